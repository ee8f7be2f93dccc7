"""What is picked out of a driver's output, and how it is cut for CloudWatch."""

from pathlib import Path

from local.aws.emr.logs import Logs, _batches, last_exceptions

JAVA = """26/11/21 07:17:30 INFO SparkContext: Running Spark version 3.5.6
26/11/21 07:17:31 WARN Something: a warning about an Exception in passing
Exception in thread "main" org.apache.spark.SparkException: Application failed
\tat org.apache.spark.deploy.SparkSubmit.main(SparkSubmit.scala)
Caused by: software.amazon.awssdk.services.s3.model.S3Exception: User: x is not authorized to perform: s3:PutObject
\t... 3 more
26/11/21 07:17:32 INFO ShutdownHookManager: Shutdown hook called
"""
PYTHON = """working
Traceback (most recent call last):
  File "main.py", line 3, in <module>
    main()
pipeline.errors.Gap: the table is at 12:00, the window starts at 13:00
"""


def logs(folder: Path, stdout: str = "", stderr: str = "") -> Logs:
    (folder / "stdout").write_text(stdout)
    (folder / "stderr").write_text(stderr)
    return Logs(folder / "stdout", folder / "stderr")


def test_the_last_exceptions_are_javas_and_pythons_without_their_traces(tmp_path: Path) -> None:
    assert last_exceptions(logs(tmp_path, PYTHON, JAVA)).splitlines() == [
        'Exception in thread "main" org.apache.spark.SparkException: Application failed',
        "Caused by: software.amazon.awssdk.services.s3.model.S3Exception: User: x is not authorized to perform: s3:PutObject",
        "pipeline.errors.Gap: the table is at 12:00, the window starts at 13:00",
    ]


def test_without_an_exception_the_end_of_the_output_is_shown(tmp_path: Path) -> None:
    assert last_exceptions(logs(tmp_path, "one\ntwo\n")) == "one\ntwo"


def test_a_long_story_is_cut(tmp_path: Path) -> None:
    told = last_exceptions(logs(tmp_path, f"ValueError: {'x' * 5000}\n"))

    assert len(told) == 1003
    assert told.endswith("x...")


def test_events_fit_what_cloudwatch_takes_and_no_line_is_lost() -> None:
    lines = [f"{number:07d}" + "x" * 93 for number in range(25_000)]

    batches = _batches("\n".join([*lines, "", "  "]).encode())

    assert [line for batch in batches for line in batch] == lines
    assert all(len(batch) <= 10_000 for batch in batches)
    assert all(sum(len(line) + 26 for line in batch) <= 1_048_576 for batch in batches)
