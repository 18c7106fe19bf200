"""The recipe of docs/python.md for photos shared among worker processes, with Ray Data and with Spark where they are installed."""
import os
import pathlib
import re
import sys

import numpy as np
import pytest

import protocom


@pytest.fixture
def recipe():
    """The page's class and the two expressions that use it."""
    page = (pathlib.Path(os.environ["PROTOCOM_DOCUMENTS"]) / "python.md").read_text()
    made, ray, spark = re.findall(r"```py\n(.*?)```", page[page.index("### Many photos"):], re.S)[:3]
    names = {}
    exec(compile(made, "docs/python.md", "exec"), names)
    names["Classify"].__module__ = "__main__"  # workers receive the class itself
    return names, ray, spark


@pytest.fixture
def asked(photos, tmp_path, monkeypatch):
    """A folder with mine.pcm and holiday/, and the class of each photo by file name; other files have none."""
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt", images=photos / "my-photos")
    (tmp_path / "holiday").mkdir()
    paths = protocom.images_in(photos / "holiday")
    for one in paths:
        (tmp_path / "holiday" / os.path.basename(one)).write_bytes(pathlib.Path(one).read_bytes())
    (tmp_path / "holiday" / "bad.png").write_bytes(b"no image")
    monkeypatch.chdir(tmp_path)
    return {**{os.path.basename(one): mine.classify(one).name for one in paths}, "bad.png": ""}


def check(rows, asked):
    assert {os.path.basename(path): name for path, name, _, _ in rows} == asked
    assert all((name == "") == (probability == 0) for _, name, probability, _ in rows)
    processes = {process for _, _, _, process in rows}
    assert len(processes) == 2 and os.getpid() not in processes


def with_process(made):
    """The class, whose batches also tell which process answered them."""
    class Told(made):
        def __call__(self, batch):
            batch = super().__call__(batch)
            batch["process"] = np.full(len(batch["class"]), os.getpid())
            return batch
    Told.__module__ = "__main__"
    return Told


def test_the_class_takes_and_returns_batches(recipe, asked):
    photos = sorted(pathlib.Path("holiday").iterdir())
    batch = recipe[0]["Classify"]("mine.pcm", "bytes")({"bytes": np.array([one.read_bytes() for one in photos], object)})
    assert dict(zip((one.name for one in photos), batch["class"])) == asked
    assert set(batch) == {"bytes", "class", "probability"}


def test_ray_data_classifies_in_two_workers(recipe, asked, tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[data]'")
    pytest.importorskip("ray.data", reason="Ray Data is not installed: pip install 'ray[data]'")
    names, lines, _ = recipe
    try:
        ray.init(num_cpus=3, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}})
    except Exception as error:  # on a busy machine, for instance
        pytest.skip(f"Ray does not start: {str(error).splitlines()[0]}")
    try:
        names["Classify"] = with_process(names["Classify"])
        exec(compile(lines.replace("batch_size=64", "batch_size=1"), "docs/python.md", "exec"), names)
        rows = ray.data.read_parquet(str(tmp_path / "answers")).take_all()
    finally:
        ray.shutdown()
    check([(one["path"], one["class"], one["probability"], one["process"]) for one in rows], asked)


def test_spark_classifies_in_two_workers(recipe, asked, monkeypatch):
    sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed: pip install pyspark")
    for needed in ("pandas", "pyarrow"):
        pytest.importorskip(needed, reason=f"Spark's batches need {needed}")
    names, _, lines = recipe
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    try:
        names["spark"] = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config(
            "spark.sql.files.openCostInBytes", "100000000").getOrCreate()
    except Exception as error:  # without Java, for instance
        pytest.skip(f"Spark does not start: {str(error).splitlines()[0]}")
    try:
        names["Classify"] = with_process(names["Classify"])
        exec(compile(lines.replace("probability double", "probability double, process long"), "docs/python.md", "exec"), names)
        rows = names["spark"].read.parquet("answers").collect()
    finally:
        names["spark"].stop()
    check([(one["path"], one["class"], one["probability"], one["process"]) for one in rows], asked)
