"""Records as real exports hold them, and the oddities that can be switched on."""

import gzip
import json
from dataclasses import replace

import pytest

from local.aws.pitr.journal import Journal
from local.aws.pitr.oddities import ODDITIES, UnknownOddity, oddities_named
from local.aws.pitr.records import ION, NEW_IMAGE
from local.aws.pitr.times import iso_millis
from tests.local.aws.pitr.exported import FULL, WINDOW, journal, written


def test_the_records_of_a_full_export():
    _, lines = written(FULL)
    assert lines == [
        '{"Item":{"pk":{"S":"k1"},"sk":{"N":"1"},"gone":{"S":"x"}}}',
        '{"Item":{"pk":{"S":"k2"},"sk":{"N":"2"}}}',
    ]


def test_the_records_of_a_window_with_both_images():
    _, lines = written(WINDOW)
    assert lines == [
        '{"Metadata":{"WriteTimestampMicros":{"N":"1768386100000000"}},"Keys":{"pk":{"S":"k1"},"sk":{"N":"1"}},'
        '"OldImage":{"gone":{"S":"x"},"pk":{"S":"k1"},"sk":{"N":"1"}},"NewImage":{"pk":{"S":"k1"},"sk":{"N":"1"}}}',
        '{"Metadata":{"WriteTimestampMicros":{"N":"1768386200000000"}},"Keys":{"pk":{"S":"k2"},"sk":{"N":"2"}},'
        '"OldImage":{"pk":{"S":"k2"},"sk":{"N":"2"}}}',
        '{"Metadata":{"WriteTimestampMicros":{"N":"1768386300123456"}},"Keys":{"pk":{"S":"k3"},"sk":{"N":"3"}},'
        '"NewImage":{"a":{"S":"é"},"pk":{"S":"k3"},"sk":{"N":"3"}}}',
    ]


def test_the_records_of_a_window_with_new_images_only():
    heading = replace(WINDOW, extent=replace(WINDOW.extent, view=NEW_IMAGE))
    _, lines = written(heading)
    assert [list(json.loads(line)) for line in lines] == [
        ["Metadata", "Keys", "NewImage"],
        ["Metadata", "Keys"],
        ["Metadata", "Keys", "NewImage"],
    ]


def test_all_items_of_a_partition_key_are_in_one_file_and_every_file_gets_some():
    found = Journal(0)
    for number in range(200):
        key = f'{{"pk":{{"S":"p{number % 20}"}},"sk":{{"N":"{number}"}}}}'
        found.write(1, key, key)
    objects, _ = written(FULL, found)
    files = [gzip.decompress(content).decode() for key, content in objects.items() if key.endswith(".gz")]
    partition_keys = [{json.loads(line)["Item"]["pk"]["S"] for line in file.splitlines()} for file in files]
    assert all(partition_keys)
    assert sum(map(len, partition_keys)) == 20


def test_ion_is_named_in_the_summary_and_in_the_files():
    objects, lines = written(replace(WINDOW, file_format=ION))
    assert json.loads(objects[WINDOW.summary_key])["outputFormat"] == "ION"
    assert sum(key.endswith(".ion.gz") for key in objects) == 4
    assert all(line.startswith("$ion_1_0 {Record:{Keys:{pk:") for line in lines)


def odd(heading, *names, found=None):
    return written(replace(heading, oddities=oddities_named(names)), found)


def test_oddities_of_manifests_and_names():
    assert json.loads(odd(FULL, "export_type_on_full")[0][FULL.summary_key])["exportType"] == "FULL_EXPORT"
    assert FULL.summary_key.replace(".json", ".checksum") in odd(FULL, "checksum_names")[0]
    assert not any(key.endswith((".md5", "_started")) for key in odd(FULL, "checksum_names", "no_started")[0])
    assert "-2" in odd(FULL, "etag_of_two_parts")[0][FULL.files_key].decode()
    assert odd(WINDOW, "empty_file_list", found=Journal(0))[0][WINDOW.files_key] == b""
    assert odd(WINDOW, "empty_file_list")[0][WINDOW.files_key] != b""
    assert "exportTier" in json.loads(odd(FULL, "unknown_fields")[0][FULL.summary_key])


def test_oddities_of_records():
    assert '"WriteTimestampMicros":"1768386100000000"' in odd(WINDOW, "bare_timestamp")[1][0]
    assert all("Origin" in json.loads(line) for line in odd(WINDOW, "unknown_fields")[1])
    doubled = [json.loads(line) for line in odd(WINDOW, "duplicate_key")[1] if '"k1"' in line]
    assert len(doubled) == 2
    assert "NewImage" in max(doubled, key=lambda record: record["Metadata"]["WriteTimestampMicros"]["N"])
    outside = min(
        int(json.loads(line)["Metadata"]["WriteTimestampMicros"]["N"])
        for line in odd(WINDOW, "timestamp_outside_window")[1]
    )
    assert iso_millis(outside) == "2026-01-14T10:19:00.000Z"


def test_no_op_records_have_equal_images():
    found = journal()
    image = found.state_at(WINDOW.extent.start)['{"pk":{"S":"k1"},"sk":{"N":"1"}}']
    quiet = Journal(0, {'{"pk":{"S":"k1"},"sk":{"N":"1"}}': image})
    quiet.write(WINDOW.extent.start, '{"pk":{"S":"k1"},"sk":{"N":"1"}}', image)
    assert odd(WINDOW, found=quiet)[1] == []
    (line,) = odd(WINDOW, "no_op_records", found=quiet)[1]
    record = json.loads(line)
    assert record["OldImage"] == record["NewImage"]


def test_an_unknown_oddity_is_refused_with_the_list_of_known_ones():
    with pytest.raises(UnknownOddity, match="No oddity nosuch; there are: export_type_on_full"):
        oddities_named(["nosuch"])
    assert oddities_named(ODDITIES) == ODDITIES.keys()
