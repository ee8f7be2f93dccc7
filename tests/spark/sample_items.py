"""Items that the Spark tests write: one that holds every type and every awkward name, and small ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from pipeline.identity import KeyAttribute

S, N = {"S": "x"}, {"N": "1"}
#: A key of two attributes, the second a number.
N_KEY = (KeyAttribute("pk", "S"), KeyAttribute("sk", "N"))
ALL_TYPES: dict[str, Any] = {
    "pk": {"S": "all"},
    "text": {"S": "a 'quoted' \"text\"\nof two lines, \\ and ` and 😀"},
    "empty": {"S": ""},
    "count": {"N": "9223372036854775807"},
    "price": {"N": "-12.50"},
    "huge": {"N": "1" + "0" * 125},
    "tiny": {"N": "0." + "0" * 129 + "1"},
    "digits": {"N": "12345678901234567890123456789012345678"},
    "raw": {"B": b"\x00\xff"},
    "flag": {"BOOL": False},
    "nothing": {"NULL": True},
    "texts": {"SS": ["b", "a"]},
    "numbers": {"NS": ["3", "-1.25"]},
    "raws": {"BS": [b"\x01", b""]},
    "list": {"L": [{"N": "1"}, {"NULL": True}, {"N": "3"}]},
    "mixed": {"L": [{"S": "a"}, {"N": "1.50"}, {"M": {"deep": {"L": [{"BOOL": True}]}}}, {"B": b"\x02"}]},
    "map": {"M": {"city": {"S": "Ulm"}, "zip": {"N": "89073"}, "in": {"M": {"x": {"SS": ["s"]}}}}},
    "Dot.ted 'name'": {"S": "of a name"},
    "dot_ted_name_": {"S": "its twin"},
    "Case": {"S": "upper"},
    "case": {"S": "lower"},
    "_misfits": {"S": "our own name"},
    "select": {"S": "a reserved word"},
    "1; DROP TABLE orders --": {"S": "a name with SQL in it"},
    "n" * 400: {"S": "a name that no comment holds"},
    "line\nbreak": {"M": {"in\nside": {"N": "1"}}},
}


def lines(spark: SparkSession, items: Iterable[Any]) -> DataFrame:
    """The lines of a full export of these items, given as DynamoDB JSON, in the column ``value``."""
    return spark.createDataFrame([(json.dumps({"Item": item}),) for item in items], "value string")


def plain(value: dict[str, Any], number: Callable[[str], Any]) -> Any:
    """What plain JSON says of a value, by the words of the design; `number` reads an N."""
    ((tag, inner),) = value.items()
    if tag == "M":
        return {name: plain(below, number) for name, below in inner.items()}
    if tag == "L":
        return [plain(below, number) for below in inner]
    if tag == "NS":
        return [number(one) for one in inner]
    return {"N": lambda: number(inner), "NULL": lambda: None}.get(tag, lambda: inner)()


def item(pk: str, **attributes: Any) -> dict[str, Any]:
    """An item under the key `pk`."""
    return {"pk": {"S": pk}, **attributes}
