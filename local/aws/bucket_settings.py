"""Encryption and lifecycle of a bucket: CloudFormation's properties, put through S3's own API."""

from typing import Any

from local.aws.hooks import HookMismatch

Properties = dict[str, Any]


def apply_bucket_settings(name: str, properties: Properties) -> None:
    """Put both settings on a bucket that a stack has made or changed; a dropped one is taken away. Raises ValueError."""
    from ministack.services import s3

    encryption = properties.get("BucketEncryption")
    if encryption:
        configuration = {"ServerSideEncryptionConfiguration": _rules(encryption)}
        _put(s3._put_bucket_encryption, name, "PutBucketEncryption", configuration)
    else:
        s3._bucket_encryption.pop(name, None)
    lifecycle = properties.get("LifecycleConfiguration")
    if lifecycle:
        rules = {"Rules": [lifecycle_rule(rule) for rule in lifecycle["Rules"]]}
        _put(s3._put_bucket_lifecycle, name, "PutBucketLifecycleConfiguration", {"LifecycleConfiguration": rules})
    else:
        s3._bucket_lifecycle.pop(name, None)


def _rules(encryption: Properties) -> Properties:
    return {
        "Rules": [
            {
                "ApplyServerSideEncryptionByDefault": rule.get("ServerSideEncryptionByDefault", {}),
                "BucketKeyEnabled": str(rule.get("BucketKeyEnabled", False)).lower() == "true",
            }
            for rule in encryption["ServerSideEncryptionConfiguration"]
        ]
    }


def lifecycle_rule(rule: Properties) -> Properties:
    """One rule of AWS::S3::Bucket as PutBucketLifecycleConfiguration takes it."""
    conditions: Properties = {
        "Prefix": rule.get("Prefix"),
        "ObjectSizeGreaterThan": rule.get("ObjectSizeGreaterThan"),
        "ObjectSizeLessThan": rule.get("ObjectSizeLessThan"),
        "Tags": rule.get("TagFilters"),
    }
    given = {name: value for name, value in conditions.items() if value is not None}
    alone = len(given) <= 1 and "Tags" not in given
    result: Properties = {"Status": rule["Status"], "Filter": (given or {"Prefix": ""}) if alone else {"And": given}}
    if "Id" in rule:
        result["ID"] = rule["Id"]
    if "ExpirationInDays" in rule:
        result["Expiration"] = {"Days": int(rule["ExpirationInDays"])}
    if str(rule.get("ExpiredObjectDeleteMarker")).lower() == "true":
        result["Expiration"] = {"ExpiredObjectDeleteMarker": True}
    if "AbortIncompleteMultipartUpload" in rule:
        days = rule["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"]
        result["AbortIncompleteMultipartUpload"] = {"DaysAfterInitiation": int(days)}
    noncurrent = rule.get("NoncurrentVersionExpiration", {}).get("NoncurrentDays")
    noncurrent = noncurrent or rule.get("NoncurrentVersionExpirationInDays")
    if noncurrent:
        result["NoncurrentVersionExpiration"] = {"NoncurrentDays": int(noncurrent)}
    if rule.get("Transitions"):
        result["Transitions"] = [
            {"Days": int(step["TransitionInDays"]), "StorageClass": step["StorageClass"]}
            for step in rule["Transitions"]
        ]
    return result


def _put(put: Any, name: str, operation: str, parameters: Properties) -> None:
    """Write the request as an SDK would, so that S3 checks it."""
    import botocore.session
    from botocore.serialize import create_serializer

    model = botocore.session.get_session().get_service_model("s3")
    request = create_serializer("rest-xml", include_validation=True).serialize_to_request(
        {"Bucket": name, **parameters}, model.operation_model(operation)
    )
    answer = put(name, request["body"])
    if not isinstance(answer, tuple):
        raise HookMismatch(f"{operation} of MiniStack answers in another way by now")
    if answer[0] >= 400:
        raise ValueError(f"{operation} on {name}: {answer[2]!r}")
