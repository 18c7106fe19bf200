"""Photos in Parquet: a row per photo, with its path or its bytes (also Hugging Face's struct of both), and its label."""
import contextlib
import os

from . import _arrays
from ._damage import reading
from ._errors import Error
from ._later import json, tempfile
from ._parquet import class_names, column_named, is_parquet, open_table

_LABELS = ("label", "class", "labels", "species")
_PATHS = ("image", "path", "file_name", "filename", "image_path", "filepath", "file", "photo", "img")
_ROWS = 64  # in memory at a time


def photos_of(path):
    """Iterates over the photos: paths, of which relative ones are below the file's folder, bytes, or None."""
    path = _arrays.fspath(path)
    table = open_table(path)
    column = _photo_column(table, path)
    for one, in _rows(table, [column], path):
        yield _photo(one, path)


@contextlib.contextmanager
def as_list(path):
    """The path of a list of images that the library reads; photos as bytes are in temporary files beside it. Any other path
    as it is."""
    path = _arrays.fspath(path)
    if not is_parquet(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="protocom-") as folder:
        made = os.path.join(folder, "photos.jsonl")
        with open(made, "w", encoding="utf-8") as lines:
            for name, label in _named_photos(path, folder):
                lines.write(json.dumps({"image": name, "class": label}) + "\n")
        yield made


def _named_photos(path, folder):
    table = open_table(path)
    columns = [_photo_column(table, path), column_named(table.schema_arrow, _LABELS, path)]
    names = class_names(table.schema_arrow, columns[1])
    for row, (one, label) in enumerate(_rows(table, columns, path)):
        if names is not None and isinstance(label, int):
            label = names[label] if 0 <= label < len(names) else None
        if label is None or label == "":
            raise Error(f"{path} must have a label in every row, row {row} has none")
        photo = _photo(one, path)
        if photo is None:
            raise Error(f"{path} must have a photo in every row, row {row} has none")
        yield os.path.abspath(photo) if isinstance(photo, str) else _written(photo, one, row, folder), str(label)


def _written(photo, cell, row, folder):
    """The name of a file with these bytes."""
    given = cell.get("path") if isinstance(cell, dict) else None
    name = os.path.basename((given or "photo.jpg").replace("\\", "/")).replace("\0", "")
    target = os.path.join(folder, f"{row}-{name[-100:]}")
    with open(target, "wb") as file:
        file.write(photo)
    return target


def _photo_column(table, path):
    """The column of bytes, or of structs of bytes; else one of paths, by its name."""
    import pyarrow

    schema = table.schema_arrow

    def is_bytes(kind):
        return pyarrow.types.is_binary(kind) or pyarrow.types.is_large_binary(kind)

    def holds_photos(kind):
        return is_bytes(kind) or (pyarrow.types.is_struct(kind) and any(part.name == "bytes" and is_bytes(part.type) for part in kind))

    found = [part.name for part in schema if holds_photos(part.type)]
    if len(found) > 1:
        raise Error(f"{path} must have one column of photos, found {', '.join(found)}")
    return found[0] if found else column_named(schema, _PATHS, path)


def _rows(table, columns, path):
    with reading(path, "a row per photo, with its path or bytes, and its label"):
        for batch in table.iter_batches(_ROWS, columns=columns):
            yield from zip(*(batch.column(batch.schema.get_field_index(one)).to_pylist() for one in columns))


def _photo(cell, path):
    if isinstance(cell, dict):
        cell = cell.get("path") if cell.get("bytes") is None else cell["bytes"]
    if isinstance(cell, str):
        return os.path.join(os.path.dirname(path), cell) if cell else None
    if cell is not None and not isinstance(cell, bytes):
        raise Error(f"{path} must hold photos as paths or bytes, found {type(cell).__name__}")
    return cell
