"""Features in Parquet, where pyarrow is installed."""
import sys

import numpy as np
import pytest

import protocom


@pytest.fixture
def tables():
    pytest.importorskip("pyarrow.parquet")
    import pyarrow.parquet

    return pyarrow


def test_features_come_back_from_parquet(tables, collection, tmp_path):
    collection.save(tmp_path / "features.parquet")
    again = protocom.FeatureSet.read(tmp_path / "features.parquet")
    np.testing.assert_array_equal(again.features, collection.features)
    np.testing.assert_array_equal(again.labels, collection.labels)
    assert (again.names, again.split) == (collection.names, collection.split)
    same = {"methods": ["plda"], "shots": 1, "episodes": 4}
    np.testing.assert_array_equal(protocom.evaluate(tmp_path / "features.parquet", **same).accuracies("plda"),
                                  protocom.evaluate(collection, **same).accuracies("plda"))


def test_tables_of_others_are_taken(tables, tmp_path):
    path = tmp_path / "others.parquet"
    rows = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    tables.parquet.write_table(tables.table({"id": ["1", "2", "3", "4"], "class": ["b", "a", "b", "a"], "features": rows.tolist()}), path)
    found = protocom.FeatureSet.read(path)
    np.testing.assert_array_equal(found.features, rows)
    assert (found.names, found.labels.tolist(), found.split) == (["a", "b"], [1, 0, 1, 0], ["novel", "novel"])


@pytest.mark.parametrize("columns, words", [
    ({"label": ["a", "b"]}, "must have a column 'embedding' or 'features', found label"),
    ({"embedding": [[1.0], [2.0]]}, "must have a column 'label' or 'class', found embedding"),
    ({"embedding": [[1.0], [2.0, 3.0]], "label": ["a", "b"]}, r"features of equal length in every row, found lengths \[1, 2\]"),
    ({"embedding": [[1.0], None], "label": ["a", "b"]}, r"found lengths \[-1, 1\] \(-1: none\)"),
    ({"embedding": ["far", "near"], "label": ["a", "b"]}, "must hold features as numbers, found string"),
    ({"embedding": [[1.0], [2.0]], "label": ["a", None]}, "must have a label in every row, 1 have none"),
    ({"embedding": [[1.0], [2.0]], "label": ["a", "a"], "split": ["base", "val"]}, "each class in one split, found 'a' in 'val' and 'base'"),
])
def test_tables_that_hold_no_features_are_refused(tables, columns, words, tmp_path):
    tables.parquet.write_table(tables.table(columns), tmp_path / "x.parquet")
    with pytest.raises(protocom.Error, match=words):
        protocom.FeatureSet.read(tmp_path / "x.parquet")


def test_a_small_table_of_many_equal_values_is_refused(tables, tmp_path):
    labels = tables.DictionaryArray.from_arrays(tables.array(np.zeros(20_000_000, np.int8)), ["a"])
    tables.parquet.write_table(tables.table({"label": labels}), tmp_path / "x.parquet")
    assert (tmp_path / "x.parquet").stat().st_size < 100_000
    with pytest.raises(protocom.Error, match="x.parquet is too large: 40000000 values"):
        protocom.FeatureSet.read(tmp_path / "x.parquet")


@pytest.mark.parametrize("columns", [
    {"embedding": [[1.0], [2.0]], "label": [{"a": 1}, {"a": 2}]},
    {"embedding": [[1.0], [2.0]], "label": [["a"], ["b", "c"]]},
])
def test_columns_of_other_kinds_are_refused(tables, columns, tmp_path):
    tables.parquet.write_table(tables.table(columns), tmp_path / "x.parquet")
    with pytest.raises(protocom.Error, match="x.parquet"):
        protocom.FeatureSet.read(tmp_path / "x.parquet")


def test_files_that_are_none_are_refused(tables, tmp_path):
    (tmp_path / "x.parquet").write_text("no table")
    with pytest.raises(protocom.Error, match="x.parquet cannot be read as Parquet"):
        protocom.FeatureSet.read(tmp_path / "x.parquet")
    with pytest.raises(protocom.Error, match="cannot open .*none.parquet: No such file"):
        protocom.FeatureSet.read(tmp_path / "none.parquet")
    with pytest.raises(protocom.UsageError, match="has labels and splits of its own"):
        protocom.FeatureSet.read(tmp_path / "x.parquet", labels="labels.npy")


def test_without_pyarrow_it_is_said(collection, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(protocom.UsageError, match="files that end in .parquet need pyarrow: pip install pyarrow"):
        collection.save(tmp_path / "x.parquet")
