"""What DynamoDB calls exports, in requests for them and in their manifests alike. Pure."""

from __future__ import annotations

FULL, INCREMENTAL = "FULL_EXPORT", "INCREMENTAL_EXPORT"
#: The format that this product asks for, and the only one that it reads.
FILE_FORMAT = "DYNAMODB_JSON"
#: The view type of incremental exports that carry old images beside the new ones.
NEW_AND_OLD_IMAGES = "NEW_AND_OLD_IMAGES"
