"""Which metadata file of a local table is the newest."""

from __future__ import annotations

from local.hadoop_catalog import newest_metadata, read_metadata


def test_the_newest_metadata_file_is_that_of_the_highest_number_whatever_lies_beside_it(tmp_path):
    assert (newest_metadata(tmp_path), read_metadata(tmp_path)) == (None, {})
    (folder := tmp_path / "metadata").mkdir()
    (folder / "v10 copy.metadata.json").write_text("{}")
    assert newest_metadata(tmp_path) is None
    for name in ("v2.metadata.json", "v10.gz.metadata.json", "v9.metadata.json", "v-old.metadata.json"):
        (folder / name).write_text("{}")
    assert newest_metadata(tmp_path) == folder / "v10.gz.metadata.json"
