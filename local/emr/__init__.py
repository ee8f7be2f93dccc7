"""EMR Serverless on one machine: the REST API, and job runs that are real `spark-submit` processes.

| module | decides |
|---|---|
| `api` | which operation a request asks for, and what it answers |
| `applications`, `job_runs` | the rules of each resource: states, tokens, limits, pages |
| `runs` | the life of a job run: queue, role session, process, logs, end |
| `workers` | what the workers that a job asks for would cost on AWS |
| `spark`, `artifacts`, `logs`, `leash` | the command, what it needs from S3, what it leaves there, that nothing outlives us |
| `integration`, `cloudformation` | how Step Functions and CloudFormation use the service |

What the local service cannot do (Hive, streaming, sessions, retries, session policies) it refuses by name.
"""

from local.emr.install import install

__all__ = ["install"]
