"""Metadata files are read whether Iceberg has packed them or not."""

from __future__ import annotations

import gzip

from pipeline.table.metadata_file import metadata_in


def test_a_metadata_file_says_the_same_when_it_is_packed():
    content = '{"properties": {"ü": "1"}}'.encode()
    assert metadata_in(content) == metadata_in(gzip.compress(content)) == {"properties": {"ü": "1"}}
