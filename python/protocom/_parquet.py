"""Features in Parquet: a row per image, with columns ``embedding``, ``label`` and optionally ``split`` and ``id``."""
import contextlib
import os

import numpy as np

from . import _arrays
from ._damage import reading
from ._errors import Error, UsageError
from ._later import json
from ._whole_file import whole_file

_FEATURES, _LABELS = ("embedding", "features"), ("label", "class")
_FEW_VALUES, _VALUES_A_BYTE = 1 << 24, 16  # real features take at least a byte or two each


def is_parquet(path):
    name = _arrays.fspath(path)
    return isinstance(name, str) and name.lower().endswith(".parquet")


def read(path):
    """(float32 [m, d], numbers of classes [m], names [c], splits [c], ids [m] or none)"""
    found = open_table(path)
    _check_size(found, path)
    with _opening(path):
        table = found.read()
    with reading(path, "a row per image, with columns embedding (lists), label and optionally split and id"):
        label = column_named(table.schema, _LABELS, path)
        numbers, names = _labels(table[label].combine_chunks(), class_names(table.schema, label), path)
        splits = table["split"].to_pylist() if "split" in table.column_names else ["novel"] * len(table)
        ids = [str(one) for one in table["id"].to_pylist()] if "id" in table.column_names else []
        rows = table[column_named(table.schema, _FEATURES, path)].combine_chunks()
        return _matrix(rows, path), numbers, names, _of_classes(splits, numbers, names, path), ids


def open_table(path):
    """pyarrow's ParquetFile."""
    with _opening(path):
        return _modules()[1].ParquetFile(path)


@contextlib.contextmanager
def _opening(path):
    pyarrow, _ = _modules()
    try:
        yield
    except FileNotFoundError:
        raise Error(f"cannot open {path}: No such file or directory") from None
    except (pyarrow.ArrowException, OSError) as error:
        raise Error(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from None


def _check_size(table, path):
    """A run of equal values takes a few bytes, however long it is."""
    found = table.metadata
    groups = [found.row_group(i) for i in range(found.num_row_groups)]
    values = found.num_rows + sum(one.column(i).num_values for one in groups for i in range(one.num_columns))
    most = _FEW_VALUES + _VALUES_A_BYTE * os.path.getsize(path)
    if values > most:
        raise Error(f"{path} is too large: {values} values, at most {most} are read from a file of its size")


def write(path, features, labels, names, split, ids):
    pyarrow, parquet = _modules()
    of_images = np.asarray(split, object)[labels]
    columns = {"id": list(ids)} if len(ids) else {}
    columns["label"] = pyarrow.DictionaryArray.from_arrays(pyarrow.array(labels), pyarrow.array(names))  # keeps the classes' order
    columns["split"] = pyarrow.array(of_images, pyarrow.string())
    columns["embedding"] = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(features.ravel()), features.shape[1])
    with whole_file(_arrays.fspath(path)) as name:
        parquet.write_table(pyarrow.table(columns), name)


def _modules():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError("files that end in .parquet need pyarrow: pip install pyarrow, or use .npz") from None
    return pyarrow, pyarrow.parquet


def column_named(schema, names, path):
    """The first of the names that a column has."""
    for one in names:
        if one in schema.names:
            return one
    raise Error(f"{path} must have a column '{names[0]}' or '{names[1]}', found {', '.join(schema.names) or 'none'}")


def class_names(schema, column):
    """The names of Hugging Face's ClassLabel, by number; None: the column is not one."""
    try:
        return json.loads(schema.metadata[b"huggingface"])["info"]["features"][column]["names"]
    except (KeyError, TypeError, ValueError):
        return None


def _matrix(column, path):
    rows = column.to_numpy(zero_copy_only=False)
    sizes = {-1 if one is None else np.size(one) for one in rows}
    if len(sizes) > 1 or -1 in sizes or not sizes:
        raise Error(f"{path} must hold features of equal length in every row, found lengths {sorted(sizes)[:5]} (-1: none)")
    try:
        return np.stack(rows).astype(np.float32)
    except (TypeError, ValueError):
        raise Error(f"{path} must hold features as numbers, found {column.type}") from None


def _labels(column, named, path):
    """(int64 [m], names [c]); the classes of a dictionary column keep its order, and so do those ``named``; others are sorted."""
    if column.null_count:
        raise Error(f"{path} must have a label in every row, {column.null_count} have none")
    if hasattr(column, "dictionary"):
        return column.indices.to_numpy(zero_copy_only=False).astype(np.int64), [str(one) for one in column.dictionary.to_pylist()]
    classes, numbers = np.unique(np.asarray(column.to_pylist()), return_inverse=True)
    if named and classes.dtype.kind == "i":
        if classes.min() < 0 or classes.max() >= len(named):
            raise Error(f"{path} must have labels from 0 to {len(named) - 1}, found {classes.min()} to {classes.max()}")
        return classes[numbers].astype(np.int64), [str(one) for one in named]
    return numbers.astype(np.int64), [str(one) for one in classes]


def _of_classes(splits, numbers, names, path):
    found = dict(zip(numbers.tolist(), splits))
    for number, split in zip(numbers.tolist(), splits):
        if found[number] != split:
            raise Error(f"{path} must have each class in one split, found {names[number]!r} in {found[number]!r} and {split!r}")
    return [str(found.get(number, "novel")) for number in range(len(names))]
