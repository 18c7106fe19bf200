"""Features and photos in Parquet, where pyarrow is installed."""
import json
import os
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


def test_parquet_has_names_of_its_own(tables, collection, tmp_path):
    collection.to_parquet(tmp_path / "named.parquet")
    collection.save(tmp_path / "saved.parquet")
    assert (tmp_path / "named.parquet").read_bytes() == (tmp_path / "saved.parquet").read_bytes()
    os.rename(tmp_path / "named.parquet", tmp_path / "without-ending")
    again = protocom.FeatureSet.from_parquet(tmp_path / "without-ending")
    np.testing.assert_array_equal(again.features, collection.features)
    assert (again.names, again.split, again.labels.tolist()) == (collection.names, collection.split, collection.labels.tolist())


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


def labelled(photos):
    """[(path of a photo, its class)]"""
    return [(path, folder.name) for folder in sorted((photos / "my-photos").iterdir()) for path in sorted(folder.iterdir())]


def table_of(tables, kind, rows, path):
    """A table of photos as Hugging Face, others and lists of paths write it."""
    paths, labels = [path.resolve() for path, _ in rows], [label for _, label in rows]
    schema = None
    if kind == "hugging face":
        names = sorted(set(labels))
        features = {"image": {"_type": "Image"}, "label": {"names": names, "_type": "ClassLabel"}}
        columns = {"image": [{"bytes": one.read_bytes(), "path": one.name} for one in paths], "label": [names.index(one) for one in labels]}
        schema = {"huggingface": json.dumps({"info": {"features": features}})}
    elif kind == "bytes":
        columns = {"label": labels, "jpg": [one.read_bytes() for one in paths]}
    elif kind == "relative paths":
        columns = {"file_name": [os.path.relpath(one, path.parent) for one in paths], "label": labels}
    else:
        columns = {"path": [str(one) for one in paths], "class": labels}
    tables.parquet.write_table(tables.table(columns).replace_schema_metadata(schema), path)
    return path


@pytest.mark.parametrize("kind", ["hugging face", "bytes", "paths", "relative paths"])
def test_photos_of_a_table_are_enrolled_and_classified_as_their_files_are(tables, photos, tmp_path, kind):
    rows = labelled(photos)
    table = table_of(tables, kind, rows, tmp_path / "photos.parquet")
    plain = protocom.Recognizer.create(tmp_path / "plain.pcm", backbone=photos / "encoder.pt", images=photos / "my-photos")
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt", images=table)
    assert mine.classes == plain.classes
    asked = [path for path, _ in rows]
    expected = plain.classify(asked)
    assert [one.ranking for one in mine.classify(table)] == [one.ranking for one in expected]
    np.testing.assert_array_equal(mine.features_of(str(table)), plain.features_of(asked))
    empty = protocom.Recognizer.create(tmp_path / "empty.pcm", backbone=photos / "encoder.pt")
    empty.enrol_folder(table)
    assert empty.classes == plain.classes
    empty.enrol("all", table)
    assert empty.classes["all"] == len(rows)
    with pytest.raises(protocom.Error) as of_folder:
        plain.test(photos / "my-photos")
    with pytest.raises(protocom.Error) as of_table:
        plain.test(table)
    assert str(of_table.value) == str(of_folder.value), "all are enrolled"


@pytest.mark.parametrize("columns, words", [
    ({"image": ["a.jpg"]}, "must have a column 'label' or 'class', found image"),
    ({"label": ["a"]}, "must have a column 'image' or 'path', found label"),
    ({"image": ["a.jpg", "b.jpg"], "label": ["a", None]}, "a label in every row, row 1 has none"),
    ({"image": [b"x", None], "label": ["a", "a"]}, "a photo in every row, row 1 has none"),
    ({"image": [b"x"], "mask": [b"x"], "label": ["a"]}, "one column of photos, found image, mask"),
    ({"image": [1], "label": ["a"]}, "photos as paths or bytes, found int"),
    ({"image": ["a.jpg"], "label": ["a"]}, "1 rows, 0 files found"),
])
def test_tables_that_hold_no_photos_are_refused(tables, photos, columns, words, tmp_path):
    tables.parquet.write_table(tables.table(columns), tmp_path / "x.parquet")
    with pytest.raises(protocom.Error, match=words):
        protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt", images=tmp_path / "x.parquet")
    assert not (tmp_path / "mine.pcm").exists()


def test_labels_of_hugging_face_are_the_names_of_features(tables, tmp_path):
    info = {"huggingface": json.dumps({"info": {"features": {"label": {"names": ["cat", "eel", "dog"], "_type": "ClassLabel"}}}})}
    made = tables.table({"embedding": [[1.0], [2.0]], "label": [2, 0]}).replace_schema_metadata(info)
    tables.parquet.write_table(made, tmp_path / "x.parquet")
    found = protocom.FeatureSet.read(tmp_path / "x.parquet")
    assert (found.names, found.labels.tolist()) == (["cat", "eel", "dog"], [2, 0])
    made = tables.table({"embedding": [[1.0], [2.0]], "label": [-1, 0]}).replace_schema_metadata(info)
    tables.parquet.write_table(made, tmp_path / "x.parquet")
    with pytest.raises(protocom.Error, match="labels from 0 to 2, found -1 to 0"):
        protocom.FeatureSet.read(tmp_path / "x.parquet")
