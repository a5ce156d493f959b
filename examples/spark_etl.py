"""Turns a log of clicks into training data with Spark: drops rows without a user, adds the user's number of clicks and
mean price to each click, and writes a folder of TFRecord files for each day.

python examples/spark_etl.py
"""

import os
import sys
import tempfile

import numpy as np
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as f

import tfrecord_fast as tf
from tfrecord_fast.integrations.spark import register

DAYS, ROWS, USERS = 3, 10_000, 500
FEATURES = {
    "user": tf.FixedLenFeature([], tf.int64),
    "tags": tf.VarLenFeature(tf.string),
    "clicks": tf.FixedLenFeature([], tf.int64),
    "mean_price": tf.FixedLenFeature([], tf.float32),
}


def write(folder):
    """Write a folder of clicks for each day; one click of a hundred has no user."""
    rng = np.random.default_rng(0)
    tags = np.array([b"red", b"green", b"blue"])
    for day in range(1, DAYS + 1):
        os.makedirs(f"{folder}/day={day}")
        users = rng.integers(0, USERS, ROWS)
        columns = {
            "user": [None if i % 100 == 0 else int(user) for i, user in enumerate(users)],
            "price": rng.gamma(2, 10, ROWS).astype(np.float32),
            "tags": [tags[rng.integers(0, 3, n)].tolist() for n in rng.integers(0, 4, ROWS)],
        }
        with tf.ExampleWriter(f"{folder}/day={day}/clicks.tfrecord", num_shards=2) as writer:
            writer.write(columns)


def run(spark, source, target):
    # A schema of the used columns is the fast way: other features are not parsed.
    clicks = spark.read.format("tfrecord").schema("user BIGINT, price FLOAT, tags ARRAY<STRING>, day INT").load(source)
    of_user = Window.partitionBy("user")
    rows = (
        clicks.where("user IS NOT NULL")
        .withColumn("clicks", f.count("*").over(of_user))
        .withColumn("mean_price", f.avg("price").over(of_user).cast("float"))
        .drop("price")
    )
    # One task for each day, since a task writes a file into each of its folders.
    writer = rows.repartition("day").write.format("tfrecord").mode("overwrite")
    writer.option("codec", "gzip").option("partitionBy", "day").save(target)


def main():
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "4")
    spark = session.config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    register(spark)
    with tempfile.TemporaryDirectory() as folder:
        write(f"{folder}/raw")
        run(spark, f"{folder}/raw", f"{folder}/out")
        print(*sorted(os.listdir(f"{folder}/out")), sep="\n")
        reader = tf.ShardReader(f"{folder}/out/day=*/*.gz", FEATURES, batch_size=1024)
        clicks = np.concatenate([batch["clicks"] for batch in reader])
        users = (1 / clicks).sum()  # each click of a user has their number
        print(f"{len(clicks)} rows of {users:.0f} users")
        assert len(clicks) == DAYS * ROWS * 99 // 100
    spark.stop()


if __name__ == "__main__":
    main()
