"""Tags of applications and job runs, by ARN."""

from collections.abc import Mapping
from typing import Any

from local.aws.emr.errors import ResourceNotFoundException, ValidationException
from local.aws.emr.store import STORE, Record

_MOST_TAGS = 200


def list_tags_for_resource(asked: Mapping[str, Any]) -> Record:
    """ListTagsForResource."""
    return {"tags": dict(_tags_of(asked["resourceArn"]))}


def tag_resource(asked: Mapping[str, Any]) -> Record:
    """TagResource: adds and replaces."""
    with STORE.changed:
        tags = _tags_of(asked["resourceArn"])
        if len({*tags, *asked["tags"]}) > _MOST_TAGS:
            raise ValidationException(f"A resource has at most {_MOST_TAGS} tags")
        tags.update(asked["tags"])
    return {}


def untag_resource(asked: Mapping[str, Any]) -> Record:
    """UntagResource; a tag that is not there is no error."""
    with STORE.changed:
        tags = _tags_of(asked["resourceArn"])
        for key in asked["tagKeys"]:
            tags.pop(key, None)
    return {}


def _tags_of(arn: str) -> dict[str, str]:
    for record in (*STORE.applications.values(), *STORE.job_runs.values()):
        if record["arn"] == arn:
            tags: dict[str, str] = record["tags"]
            return tags
    raise ResourceNotFoundException(f"{arn} does not exist")
