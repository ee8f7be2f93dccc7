"""The bound: the least that Spark does for a table of the same types, partitioned alike and merged by one plain MERGE.

All types are known beforehand, and nothing is accounted for: what does not fit becomes null or goes nowhere, a line that
cannot be read becomes a row of nulls, no count is taken, no file is proven, no change is told from one that is there
already. Only its cost is of interest here.
"""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from local.bench.orders import KEY, merge_statement
from spark.session import configured
from spark.shuffles import FEWEST_WRITERS, for_load, shuffle_for

_S, _N, _B = "struct<S:string>", "struct<N:string>", "struct<B:string>"
_LINE = f"struct<M:struct<sku:{_S},quantity:{_N},price:{_N}>>"
_ADDRESS = f"struct<M:struct<city:{_S},`Zip-Code`:{_S},street:{_S}>>"
_ITEM = (
    f"struct<customer:{_S},`order`:{_N},`order state`:{_S},total:{_N},paid:struct<BOOL:boolean>,"
    f"lines:struct<L:array<{_LINE}>>,`ship.to`:{_ADDRESS},tags:struct<SS:array<string>>,slots:struct<NS:array<string>>,"
    f"label:{_B},seals:struct<BS:array<string>>,weight:struct<N:string,S:string>,version:{_N},created:{_N},trace:{_S},"
    f"note:{_S}>"
)
_RECORD = f"Metadata struct<WriteTimestampMicros:{_N}>,Keys struct<customer:{_S},`order`:{_N}>,NewImage {_ITEM}"
_KEYS = ("Keys.customer.S AS key_customer", "bigint(Keys.`order`.N) AS key_order")
_MICROS = "bigint(Metadata.WriteTimestampMicros.N)"
_VIEW = "bound_changes"
_COLUMNS = (
    "Item.customer.S AS customer",
    "bigint(Item.`order`.N) AS `order`",
    "Item.`order state`.S AS order_state",
    "cast(Item.total.N AS decimal(38,2)) AS total",
    "Item.paid.BOOL AS paid",
    "transform(Item.lines.L, l -> named_struct('sku', l.M.sku.S, 'quantity', bigint(l.M.quantity.N),"
    " 'price', cast(l.M.price.N AS decimal(38,2)))) AS lines",
    "named_struct('city', Item.`ship.to`.M.city.S, 'zip_code', Item.`ship.to`.M.`Zip-Code`.S,"
    " 'street', Item.`ship.to`.M.street.S) AS ship_to",
    "Item.tags.SS AS tags",
    "cast(Item.slots.NS AS array<bigint>) AS slots",
    "unbase64(Item.label.B) AS label",
    "transform(Item.seals.BS, b -> unbase64(b)) AS seals",
    "coalesce(Item.weight.N, Item.weight.S) AS weight",
    "bigint(Item.version.N) AS version",
    "bigint(Item.created.N) AS created",
    "Item.trace.S AS trace",
    "Item.note.S AS note",
)


def load(spark: SparkSession, files: list[str], table: str, buckets: int) -> None:
    """Replace a table by a full export of orders."""
    shuffle_for(spark, for_load(buckets))
    rows = spark.read.schema(f"Item {_ITEM}").json(files).selectExpr(*_COLUMNS)
    writer = rows.writeTo(table).using("iceberg").tableProperty("write.distribution-mode", "hash")
    writer = writer.tableProperty("write.merge.mode", "merge-on-read")
    writer.partitionedBy(F.bucket(buckets, KEY[0].name)).createOrReplace()


def merge(spark: SparkSession, files: list[str], table: str) -> None:
    """Apply an incremental export of few changes of orders."""
    shuffle_for(configured(spark), FEWEST_WRITERS)
    records = spark.read.schema(_RECORD).json(files).selectExpr(*_KEYS, f"{_MICROS} AS at", "NewImage AS Item")
    keys = [part.name for part in KEY]
    newest = records.groupBy(*(f"key_{name}" for name in keys)).agg(F.expr("max_by(struct(Item), at)").alias("newest"))
    images = newest.select("*", "newest.Item", F.expr("newest.Item IS NULL").alias("is_deleted"))
    images.selectExpr("is_deleted", *(f"`key_{name}`" for name in keys), *_COLUMNS).createOrReplaceTempView(_VIEW)
    spark.sql(merge_statement(table, _VIEW, [column.rpartition(" AS ")[2].strip("`") for column in _COLUMNS]))
