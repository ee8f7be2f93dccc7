"""What comes from Java's side of the session."""

from __future__ import annotations

import pytest

from spark.java import ascii_text

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("length", [0, 1, 3_999, 4_000, 4_001, 50_000])
def test_a_text_comes_whole_however_long(spark, length):
    text = ('{"a\\\\": "\n"}' * length)[:length]
    assert ascii_text(spark._jvm.java.lang.StringBuffer(text)) == text


def test_no_answer_waits_for_its_beginning_to_be_acknowledged():
    asked = []

    class Buffer:
        def length(self) -> int:
            return 30_000

        def substring(self, start: int, end: int) -> str:
            asked.append((start, end))
            return "\\" * (end - start)

    assert len(ascii_text(Buffer())) == 30_000
    # Java's side doubles what it escapes, and sends 8,192 bytes at once.
    assert max(2 * (end - start) for start, end in asked) < 8_192


def test_what_compiles_sparks_expressions_is_not_checked_against_a_signature(spark):
    compiler = spark._jvm.java.lang.Class.forName("org.codehaus.janino.ScriptEvaluator")
    assert compiler.getSigners() is None
