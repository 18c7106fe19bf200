"""What is known of classes, what methods are fitted on, as users name them: a path, or an object."""
import json
import numbers
import os
import tempfile
import zipfile

import numpy as np

from . import _arrays, _html
from ._built_with import VERSION
from ._engine import engine
from ._errors import Error, UsageError
from ._features import FeatureSet


class Knowledge:
    """Knowledge of classes: their attributes, or a vector for each, such as a text's.

    ``Knowledge(path)`` reads a file of ``protocom knowledge``; ``Knowledge({"zebra": ["stripes"], "okapi": {"stripes":
    0.5}})`` takes classes with their attributes, or with a weight from 0 to 1 for each; ``Knowledge({"zebra": vector,
    ...})`` takes vectors [e], and ``Knowledge(dict(zip(names, words.encode(texts))))`` those of a TextEncoder.
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
        """Names of the attributes, [a]; of vectors, none."""
        return list(self._core.attributes)

    @property
    def association(self):
        """float32 [c, a], in [0, 1]: how much a class has of an attribute."""
        return self._core.association

    def __deepcopy__(self, memo):
        return self  # it does not change

    def __reduce__(self):
        if self._table is not None:
            return _knowledge_from, self._table
        return _read_from, (Knowledge, _bytes_of(self))

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
    """Attribute -> weight, of what a class is said to have."""
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        raise UsageError(f"attributes of {str(name)!r} must be a list of str or a dict of weights, found {row!r}")
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


class _Model:
    """A completion model, which is pickled as its file."""

    def __init__(self, path):
        self._path = os.path.abspath(os.fspath(path))
        self._core = engine.CompletionModel(self._path)

        self._data = None

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _read_from, (_Model, _bytes_of(self))


def _bytes_of(read):
    """The bytes of the file that an object was read from."""
    if read._data is not None:
        return read._data
    with open(read._path, "rb") as file:
        return file.read()


def _read_from(kind, data):
    """An object of a class that reads a path, of the bytes of its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file.npz")
        with open(path, "wb") as file:
            file.write(data)
        made = kind(path)
    made._data = data
    return made


class Fitted:
    """A method fitted on base classes: ``protocom.fit(...)``, or ``Fitted(path)`` of a file of ``protocom fit``."""

    _is_space = False

    def __init__(self, path):
        self._core = engine.Fitted.read(os.fspath(path))

    @classmethod
    def _of(cls, core, is_space=False):
        made = cls.__new__(cls)
        made._core = core
        made._is_space = is_space
        return made

    @property
    def method(self):
        """The method as ``make`` takes it."""
        return self._core.method

    @property
    def n_features(self):
        """d of the features it takes."""
        return self._core.feature_dim

    @property
    def classes(self):
        """Names of the base classes."""
        return list(self._core.trained_on)

    @property
    def findings(self):
        """What fitting found, in sentences."""
        return list(self._core.findings)

    def save(self, path):
        """Writes the file that ``protocom`` takes by ``--fitted`` and ``--space``."""
        self._core.save(os.fspath(path))

    def as_space(self):
        """The same as a space for any other classes, to which it adapts."""
        return Fitted._of(self._core.space(), True)

    def __deepcopy__(self, memo):
        return self  # it does not change

    def __reduce__(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "fitted.npz")
            self.save(path)
            with open(path, "rb") as file:
                return _fitted_of, (file.read(), self._is_space)

    def _repr_html_(self):
        known = {"method": self.method, "base classes": len(self.classes), "features": self.n_features}
        return _html.facts({**known, "findings": " ".join(self.findings)}, "Fitted")

    def __repr__(self):
        return f"Fitted({self.method!r}, {len(self.classes)} base classes, d={self.n_features})"


def _fitted_of(data, is_space=False):
    made = _read_from(Fitted, data)
    return made.as_space() if is_space else made


def fit(method="plda", X=None, y=None, *, val=None, knowledge=None, seed=1, progress=None):
    """Fits a method on base classes: many images of classes other than those to recognise.

    Parameters
    ----------
    method : str, as ``make`` takes it
    X : array [m, d], or a FeatureSet whose base and val classes are taken
    y : labels [m], of any type
    val : (X, y) of further classes on which settings are chosen, optional
    knowledge : Knowledge, path or dict, optional
    seed : int
    progress : callable(what, done, total, detail), optional

    Returns
    -------
    Fitted
    """
    features = X if isinstance(X, FeatureSet) else _base_and_val(X, y, val)
    method, seed = _arrays.text(method, "method"), _arrays.seed(seed)
    return Fitted._of(engine.fit(method, features._core, knowledge_of(knowledge), seed, progress))


def _base_and_val(X, y, val):
    rows = _arrays.rows(X)
    labels = _arrays.labels(y, len(rows), "fit")
    split = {one: "base" for one in labels}
    if val is not None:
        more = _arrays.rows(val[0], "X of val")
        own = _arrays.labels(val[1], len(more), "fit")
        for one in own:
            if split.setdefault(one, "val") == "base":
                raise UsageError(f"class {str(one)!r} is among the base classes and among those of val")
        if more.shape[1] != rows.shape[1]:
            raise UsageError(f"X has {rows.shape[1]} columns, X of val {more.shape[1]}")
        rows, labels = np.concatenate([rows, more]), _arrays.joined(labels, own)
    return FeatureSet(rows, labels, split)


def knowledge_of(given):
    """The library's object for None, a Knowledge, a path or a dict."""
    made = _as(Knowledge, given)
    return None if made is None else made._core


def fitted_of(given, space=None):
    """The library's objects for a Fitted, a path, or a list of either, and for a space."""
    return [one._core for one in _all_fitted(given, space)]


def _all_fitted(given, space):
    if given is not None and space is not None:
        raise UsageError("give 'fitted' for base classes like these or 'space' for any others, not both")
    several = given if isinstance(given, (list, tuple)) else [] if given is None else [given]
    found = [_as(Fitted, one) for one in several]
    return found if space is None else [*found, _as(Fitted, space).as_space()]


def _as(kind, given):
    return given if given is None or isinstance(given, kind) else kind(given)


def model_of(given):
    """The library's object for None or a path of ``protocom complete``."""
    made = _as(_Model, given)
    return None if made is None else made._core


def base_of(given):
    """(X, y numbered) of base classes, or (None, None)."""
    if given is None:
        return None, None
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise Error("base must be (X, y): features of base classes and their labels")
    features = _arrays.rows(given[0], "X of base")
    return features, _arrays.numbered(_arrays.labels(given[1], len(features), "base"))[1].astype(np.int64)


class Recipe:
    """What a classifier was made with. It holds objects in place of paths, so that a copy of a classifier answers like
    the original whatever became of its parameters and of files since."""

    def __init__(self, method, *, fitted=None, space=None, knowledge=None, model=None, base=None, seed=0):
        self._method = method
        self._fitted = _all_fitted(fitted, space)
        self._knowledge = _as(Knowledge, knowledge)
        self._model = _as(_Model, model)
        self._base = base_of(base)
        self._seed = seed

    def kept(self):
        """The same with arrays of its own, so that changes of the user's do not count."""
        if self._base[0] is not None:
            self._base = (np.array(self._base[0], np.float32), self._base[1])
        return self

    def on_labelled_images_alone(self, methods):
        """Whether it is one of these methods, and labelled images are all that it looks at."""
        name = self._method.split(":")[0]
        return name in methods and not self._fitted and self._knowledge is None and self._model is None

    def parts(self):
        """The same as the library takes it."""
        knowledge, model = (None if one is None else one._core for one in (self._knowledge, self._model))
        fitted = [one._core for one in self._fitted]
        return engine.Parts(self._method, fitted, knowledge, model, *self._base, self._seed)

    def label(self):
        """The method with the parameters that differ from their defaults."""
        return self.parts().label()
