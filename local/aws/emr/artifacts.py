"""What a job brings along, fetched from S3 with the rights of its role: entry point, modules, archives, files."""

from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from local.aws.emr.sessions import client_of


class ArtifactUnavailable(Exception):
    """An object cannot be read; the text carries S3's answer, as the job's log would."""


class Artifacts:
    """A folder of fetched objects. `credentials` are those of a role's session, as environment variables."""

    def __init__(self, folder: Path, credentials: dict[str, str]) -> None:
        self._folder = folder
        self._s3: Any = client_of("s3", credentials)

    def fetch(self, uri: str) -> Path:
        """The object as a local file of the same name. Raises ArtifactUnavailable."""
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        # Two objects of one name in different folders must not meet.
        target = self._folder / str(len(list(self._folder.glob("*")))) / Path(key).name
        target.parent.mkdir(parents=True)
        try:
            self._s3.download_file(bucket, key, str(target))
        except ClientError as refused:
            raise ArtifactUnavailable(self._explained(refused, bucket, key)) from refused
        return target

    def _explained(self, refused: ClientError, bucket: str, key: str) -> str:
        """download_file asks for the object's head first, whose refusal has no text; the object's own has."""
        try:
            self._s3.get_object(Bucket=bucket, Key=key)
        except ClientError as explained:
            return f"cannot read s3://{bucket}/{key}: {explained}"
        return f"cannot read s3://{bucket}/{key}: {refused}"
