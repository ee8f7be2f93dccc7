"""What a job refuses: each by name, naming what is wrong, the table and its watermark as they were."""

from __future__ import annotations

from dataclasses import replace

import pytest
from py4j.protocol import Py4JJavaError

from pipeline import errors
from pipeline.identity import KeyAttribute, SourceTable
from spark.job import main, run
from spark.loading import sampling
from spark.refusals import torn_file
from tests.spark import tampering
from tests.spark.shop import ARN, minute, with_changes
from tests.spark.tampering import full_files, summaries

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def source(shop):
    return with_changes(shop())


TAMPERED = [
    (tampering.cut_short, errors.ChecksumMismatch, "its MD5 is"),
    (tampering.altered, errors.ChecksumMismatch, ".json.gz"),
    (tampering.removed, errors.DataFileMissing, ".json.gz"),
    (tampering.a_folder_listed, errors.DataFileMissing, "/data is a folder"),
    (tampering.listed_under_two_spellings, errors.ManifestUnreadable, "count twice"),
    (tampering.manifest_altered, errors.ChecksumMismatch, "manifest-summary.json"),
    (tampering.manifest_removed, errors.ManifestUnreadable, "manifest-files.json"),
    (tampering.list_altered, errors.ChecksumMismatch, "manifest-files.json"),
    (tampering.list_torn, errors.ManifestUnreadable, "line 5"),
    (tampering.elsewhere, errors.ManifestUnreadable, "stay together"),
    (tampering.total_wrong, errors.CountMismatch, "says 17 items, the file list 2"),
    (tampering.count_wrong, errors.CountMismatch, ".json.gz holds"),
    (tampering.counts_exchanged, errors.CountMismatch, ".json.gz holds"),
    (tampering.said_to_be_empty, errors.CountMismatch, "holds 0 records"),
    (tampering.torn_line, errors.UnreadableLine, "line 1"),
    (tampering.torn_packing, errors.UnreadableLine, ".json.gz cannot be unpacked"),
    (tampering.blank_line, errors.UnreadableLine, "line 1"),
    (tampering.not_utf8, errors.UnreadableLine, "line 1"),
    (tampering.emptied, errors.ChecksumMismatch, "is empty"),
    (tampering.no_image, errors.UnreadableLine, "line 1"),
    (tampering.no_keys, errors.UnreadableLine, "line 1"),
    (tampering.no_write_time, errors.UnreadableLine, "line 1"),
    (tampering.odd_value, errors.UnreadableLine, ""),
    (tampering.no_boolean, errors.UnreadableLine, "line 1"),
    (tampering.name_twice, errors.UnreadableLine, "line 1"),
    (tampering.without_key, errors.KeyMismatch, "pk:S"),
    (tampering.key_of_another_type, errors.KeyMismatch, "pk:S"),
    (tampering.another_key_in_the_image, errors.KeyMismatch, "pk:S"),
    (tampering.contradicting, errors.ConflictingChanges, "contradict each other"),
    (tampering.as_ion, errors.UnknownFormat, "ION"),
    (tampering.of_unknown_type, errors.UnknownFormat, "DIFFERENTIAL_EXPORT"),
    (tampering.of_another_table, errors.OtherTable, ARN + "2"),
    (tampering.of_another_id, errors.OtherTableId, "another"),
]


def assert_refused(source, order, tamper, error, said):
    """Whether a job refuses exports that somebody has tampered with, by this name and with these words, and reports it."""
    tamper(source, order)
    with pytest.raises(error) as refusal:
        run(source.spark, order)
    assert said in refusal.value.message
    report = source.report(order)
    assert (report["outcome"], report["error"], bool(report["remedy"])) == ("refused", error.__name__, True)


@pytest.mark.parametrize(("tamper", "error", "said"), TAMPERED, ids=[row[0].__name__ for row in TAMPERED])
def test_a_merge_refuses(source, tamper, error, said):
    before, order = source.metadata, source.windows(5, 25)
    assert_refused(source, order, tamper, error, said)
    assert source.metadata == before


OF_ANY_JOB = (
    tampering.cut_short,
    tampering.removed,
    tampering.a_folder_listed,
    tampering.listed_under_two_spellings,
    tampering.emptied,
    tampering.not_utf8,
    tampering.count_wrong,
    tampering.counts_exchanged,
    tampering.torn_line,
    tampering.torn_packing,
    tampering.odd_value,
    tampering.no_boolean,
    tampering.name_twice,
    tampering.as_ion,
    tampering.of_another_table,
    tampering.of_another_id,
)
#: What a verification finds on its own ways; the rest it shares with loads.
OF_VERIFICATIONS = (
    tampering.cut_short,
    tampering.removed,
    tampering.emptied,
    tampering.count_wrong,
    tampering.counts_exchanged,
    tampering.blank_line,
)
VERIFICATIONS = [row for row in TAMPERED if row[0] in OF_VERIFICATIONS]
LOADS = [
    *((tamper, error, said) for tamper, error, said in TAMPERED if tamper in OF_ANY_JOB),
    (tampering.blank_line, errors.CountMismatch, "holds 1 record, its manifest says 2"),
]


@pytest.mark.parametrize(("tamper", "error", "said"), LOADS, ids=[row[0].__name__ for row in LOADS])
def test_a_rebuild_refuses_and_readers_keep_the_old_content(source, tamper, error, said):
    before, order = (source.rows(), source.state), source.full(30)
    assert_refused(source, order, tamper, error, said)
    assert (source.rows(), source.state) == before
    assert set(source.metadata["refs"]) == {"main"}


@pytest.mark.parametrize(("tamper", "error", "said"), VERIFICATIONS, ids=[row[0].__name__ for row in VERIFICATIONS])
def test_a_verification_refuses_and_blames_the_export_not_the_table(source, tamper, error, said):
    before, order = source.metadata, replace(source.full(5), job="verify")
    assert_refused(source, order, tamper, error, said)
    assert source.metadata == before


@pytest.mark.parametrize("tamper", [tampering.torn_line, tampering.count_wrong, tampering.cut_short])
def test_a_first_load_that_refuses_leaves_no_table_to_be_followed(shop, tamper):
    source = shop()
    source.put(1, {"pk": {"S": "a"}, "v": {"N": "1"}})
    order = source.full(5)
    tamper(source, order)
    with pytest.raises(errors.DamagedExport):
        run(source.spark, order)
    assert source.state.exists is False
    source.load(5)
    assert source.differences(5) == []


def test_a_load_refuses_items_without_the_declared_key(source):
    order = source.full(30)
    declared = SourceTable(order.source.arn, order.source.id, (KeyAttribute("pk", "N"),))
    before = source.state
    with pytest.raises(errors.KeyMismatch) as refused:
        run(source.spark, replace(order, source=declared))
    assert refused.value.remedy == errors.ITEM_WITHOUT_KEY
    assert source.state == before


def test_a_verification_refuses_items_without_the_declared_key(source):
    order = replace(source.full(5, partitions=1), job="verify")
    tampering.rewrite(source, order, lambda lines: [line.replace('"pk":', '"qk":') for line in lines])
    with pytest.raises(errors.KeyMismatch, match=r"2 items of .* without the key pk:S, .*, line 1\b") as refused:
        run(source.spark, order)
    assert refused.value.remedy == errors.ITEM_WITHOUT_KEY


def test_a_job_takes_only_its_own_kind_of_export(source):
    full, windows = source.full(30), source.windows(5, 25)
    for order, other in ((full, windows), (windows, full)):
        with pytest.raises(errors.UnknownFormat, match=f"export, which a {order.job} does not take"):
            run(source.spark, replace(order, exports=other.exports))


def test_windows_that_do_not_touch_are_refused(source):
    one, other = source.windows(5, 25), source.windows(26, 46)
    with pytest.raises(errors.Gap):
        run(source.spark, replace(one, exports=one.exports + other.exports, end=minute(46)))
    one, other = source.windows(5, 25), source.windows(24, 46)
    with pytest.raises(errors.Overlap):
        run(source.spark, replace(one, exports=one.exports + other.exports, end=minute(46)))


@pytest.mark.parametrize(
    ("bounds", "end", "error"), [((10, 30), 30, errors.Gap), ((4, 30), 30, errors.Overlap), ((5, 25), 26, errors.Gap)]
)
def test_windows_that_do_not_meet_the_watermark_or_the_order_are_refused(source, bounds, end, error):
    before = source.metadata
    with pytest.raises(error):
        run(source.spark, replace(source.windows(*bounds), end=minute(end)))
    assert source.metadata == before


def test_a_missing_checksum_is_only_a_warning_and_files_of_a_failed_export_are_not_read(shop, caplog):
    source = shop()
    source.put(1, {"pk": {"S": "a"}})
    source.load(5)
    order = source.windows(5, 25)
    summaries(order)[0].with_suffix(".md5").unlink()
    (source.folder / "AWSDynamoDB" / "data" / "leftoverofafailedexport.json.gz").write_bytes(b"no gzip at all")
    with caplog.at_level("WARNING"):
        assert run(source.spark, order)["counts"]["read"] == 0
    assert "no checksum beside a manifest" in caplog.text


def test_an_unexpected_failure_is_reported_and_passed_on(source, monkeypatch):
    monkeypatch.setattr("spark.exports.reading.verify_data_files", lambda *_: 1 / 0)
    order = source.windows(5, 25)
    with pytest.raises(ZeroDivisionError):
        run(source.spark, order)
    assert source.report(order)["error"] == "JobFailed"


def test_the_entry_point_ends_with_one_for_a_refusal_and_zero_for_success(shop, monkeypatch):
    source = shop()
    source.put(1, {"pk": {"S": "a"}})
    source.load(5)
    monkeypatch.setattr("spark.job.submitted_session", lambda: source.spark)
    assert main(source.windows(10, 30).to_arguments()) == 1
    assert main(source.windows(5, 25).to_arguments()) == 0


def test_what_ends_elsewhere_than_in_unpacking_or_does_not_end_so_again_is_no_torn_file(source, monkeypatch):
    order, java = source.windows(5, 25), source.spark._jvm.java
    with pytest.raises(Py4JJavaError) as of_the_disk:
        java.io.FileInputStream("/there/is/no/such/file")
    with pytest.raises(Py4JJavaError) as of_something_else:
        java.util.zip.GZIPInputStream(java.io.ByteArrayInputStream(bytearray()))
    assert [torn_file(source.spark, order, end.value) for end in (of_the_disk, of_something_else)] == [None, None]
    tampering.torn_packing(source, order)
    torn = torn_file(source.spark, order, of_something_else.value)
    assert torn is not None and str(full_files(source, order)[0].name) in torn.message
    assert torn_file(source.spark, order, of_the_disk.value) is None

    def ends_otherwise(*_):
        raise of_the_disk.value

    with monkeypatch.context() as patched:
        patched.setattr("spark.refusals.lines", ends_otherwise)
        assert torn_file(source.spark, order, of_something_else.value) is None
    tampering.manifest_removed(source, order)
    assert torn_file(source.spark, order, of_something_else.value) is None


def test_a_file_that_the_sample_did_not_touch_and_cannot_be_unpacked_leaves_no_column_behind(shop, monkeypatch):
    source = shop()
    source.put(1, *({"pk": {"S": f"a{i}"}} for i in range(9)))
    source.load(5)
    columns = source.spark.table(f"glue.shop.{source.name}").columns
    source.put(6, *({"pk": {"S": f"a{i}"}, "new": {"N": "1"}} for i in range(9)))
    order = source.full(15)
    tampering.torn_packing(source, order, most=1)
    monkeypatch.setattr(sampling, "MOST_ITEMS", 1)
    with pytest.raises(errors.UnreadableLine, match="cannot be unpacked"):
        run(source.spark, order)
    assert source.spark.table(f"glue.shop.{source.name}").columns == columns
    assert set(source.metadata["refs"]) == {"main"}
