"""Knowledge of classes: attributes or vectors."""
import numbers
import os

import numpy as np

from . import _arrays, _html
from ._built_with import VERSION
from ._engine import engine
from ._errors import Error, UsageError
from ._later import json, tempfile, zipfile
from ._read_files import bytes_of, read_from


class Knowledge:
    """Knowledge of classes: attributes, or a vector per class, such as that of a text.

    Parameters
    ----------
    source : path of a file of ``protocom knowledge``; a dict of attributes, ``{"zebra": ["stripes"], "okapi": {"stripes":
        0.5}}``, with weights from 0 to 1 if given; or a dict of vectors [e], ``{"zebra": vector, ...}``, such as
        ``dict(zip(names, words.encode(texts)))`` with a TextEncoder ``words``
    """

    def __init__(self, source):
        self._path, self._data, self._table = None, None, None
        if isinstance(source, dict):
            self._table = _table_of(source)
            self._core = _core_of(*self._table)
        else:
            self._path = os.path.abspath(_arrays.path(source, "knowledge", "a dict or a path"))
            self._core = engine.Knowledge.read(self._path)

    @property
    def classes(self):
        """Names of the classes, [c]."""
        return list(self._core.classes)

    @property
    def attributes(self):
        """Names of the attributes, [a]; empty for vectors."""
        return list(self._core.attributes)

    @property
    def association(self):
        """float32 [c, a], weights of attributes in [0, 1]."""
        return self._core.association

    def __deepcopy__(self, memo):
        return self  # immutable

    def __reduce__(self):
        if self._table is not None:
            return _knowledge_from, self._table
        return read_from, (Knowledge, bytes_of(self))

    def _repr_html_(self):
        return _html.facts({"classes": len(self.classes), "attributes": len(self.attributes)}, "Knowledge")

    def __repr__(self):
        return f"Knowledge({len(self.classes)} classes, {len(self.attributes)} attributes)"


def _table_of(source):
    """(classes, attributes, association) or (classes, None, vectors) of a dict."""
    classes = [_arrays.text(str(name), "a class's name") for name in source]
    vectors = {name: one for name, one in source.items() if _is_vector(one)}
    if not vectors:
        return (classes, *_attributes_of(source))
    for name, one in source.items():
        if name not in vectors:
            raise Error(f"knowledge has no vector for class {str(name)!r}: give one for each class")
    return classes, None, _vectors_of(vectors)


def _is_vector(given):
    if isinstance(given, (str, bytes, dict)):
        return False
    kind = getattr(getattr(given, "dtype", None), "kind", None)
    if kind is not None or hasattr(given, "detach"):
        return kind not in ("U", "S", "O")
    return isinstance(given, (list, tuple)) and len(given) > 0 and all(isinstance(one, numbers.Real) for one in given)


def _vectors_of(vectors):
    rows = []
    for name, one in vectors.items():
        row = _arrays.array(one, f"the vector of {str(name)!r}").astype(np.float32)
        if row.ndim != 1 or not row.size or not np.isfinite(row).all() or not row.any():
            raise Error(
                f"the vector of {str(name)!r} must be finite numbers [e], not all 0, "
                f"found an array of shape {row.shape}"
            )
        rows.append(row)
        if len(row) != len(rows[0]):
            raise Error(
                f"vectors must have equal lengths, found {len(rows[0])} and, for {str(name)!r}, {len(row)}"
            )
    return np.stack(rows)


def _attributes_of(source):
    rows = [_weights_of(name, row) for name, row in source.items()]
    attributes = sorted({one for row in rows for one in row})
    column = {name: i for i, name in enumerate(attributes)}
    association = np.zeros((len(rows), len(attributes)), np.float32)
    for i, row in enumerate(rows):
        for name, weight in row.items():
            association[i, column[name]] = weight
    return attributes, association


def _weights_of(name, row):
    """Attribute -> weight, of the attributes given for a class."""
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        raise UsageError(f"attributes of {str(name)!r} must be a list of str or a dict of weights, found {_arrays.shown(row)}")
    for one in row:
        if not isinstance(one, str):
            raise UsageError(
                f"attributes of {str(name)!r} must be str, found {type(one).__name__}; "
                f"a vector is an array of numbers"
            )
    if not isinstance(row, dict):
        return {one: 1.0 for one in row}
    return {one: _arrays.number(weight, f"the weight of {one!r}") for one, weight in row.items()}


def _core_of(classes, attributes, values):
    if attributes is not None:
        return engine.Knowledge.make(classes, attributes, values)
    with tempfile.TemporaryDirectory() as folder:  # the library takes vectors from a file (docs/formats.md)
        path = os.path.join(folder, "knowledge.npz")
        _write_vectors(path, classes, values)
        return engine.Knowledge.read(path)


def _write_vectors(path, classes, vectors):
    c, e = vectors.shape
    details = {"source": {"kind": "embeddings"}, "embedding": {"kind": "class-vectors", "dim": e}}
    header = {
        "kind": "knowledge", "format_version": 1, "program_version": VERSION, "command": "python", "options": {},
        "seed": 0, "inputs": {}, "details": details,
    }
    empty = np.array([], "<U1")
    np.savez(
        path, classes=np.array(classes), attributes=empty, association=np.zeros((c, 0), np.float32),
        class_embedding=vectors, attribute_embedding=np.zeros((0, e), np.float32),
    )
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("header.json", json.dumps(header))


def _knowledge_from(classes, attributes, values):
    made = Knowledge.__new__(Knowledge)
    made._path, made._data, made._table = None, None, (classes, attributes, values)
    made._core = _core_of(classes, attributes, values)
    return made


def knowledge_of(given):
    """The library's object for None, a Knowledge, a path or a dict."""
    made = as_knowledge(given)
    return None if made is None else made._core


def as_knowledge(given):
    """A Knowledge, or None for None."""
    return given if given is None or isinstance(given, Knowledge) else Knowledge(given)
