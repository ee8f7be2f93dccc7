"""EMR Serverless on one machine: the REST API, and job runs that are real submissions to Spark.

| module | decides |
|---|---|
| `api` | which operation a request asks for, and what it answers |
| `applications`, `job_runs` | the rules of each resource: states, tokens, limits, pages |
| `runs` | the life of a job run: queue, role session, driver, logs, end |
| `workers` | whether the application has room for the workers that a job asks for, and what AWS would bill |
| `spark`, `machine` | what a job asks for, and what `spark-submit` is given for it here |
| `drivers` | the JVMs that jobs run in, one after the other |
| `secrets_manager` | what `EMR.secret@NAME` in a setting stands for, and how it reaches the job unseen |
| `artifacts`, `logs`, `process`, `leash` | what a job needs from S3 and leaves there, and that its processes end with us |
| `class_archive`, `rehearsal` | makes a file of loaded classes that halves a small job's work |
| `integration`, `cloudformation` | how Step Functions and CloudFormation use the service |

What the local service cannot do (Hive, streaming, sessions, retries, session policies) it refuses by name.
"""

SERVICE = "emr-serverless"
#: What it is called in policies, when it acts itself or is handed a role.
PRINCIPAL = f"{SERVICE}.amazonaws.com"


def install() -> None:
    """Add the service to MiniStack, with its Step Functions integration and its CloudFormation type."""
    # Not at the top: the parts are programs and tests of their own, which need no MiniStack.
    from local.aws.emr import api, cloudformation, integration
    from local.aws.hooks import register_service

    register_service(SERVICE, "emr_serverless", api, SERVICE)
    integration.install()
    cloudformation.install()
