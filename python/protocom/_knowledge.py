"""What is known of classes, what methods are fitted on, as users name them: a path, or an object."""
import os
import tempfile

import numpy as np

from . import _arrays
from ._engine import engine
from ._errors import Error, UsageError
from ._features import FeatureSet


class Knowledge:
    """Which attributes classes have.

    ``Knowledge(path)`` reads a file of ``protocom knowledge``; ``Knowledge({"zebra": ["stripes"], "okapi": {"stripes":
    0.5}})`` takes classes with their attributes, or with a weight from 0 to 1 for each.
    """

    def __init__(self, source):
        self._source = source
        if isinstance(source, dict):
            self._core = _table(source)
        else:
            self._core = engine.Knowledge.read(os.fspath(source))

    @property
    def classes(self):
        """Names of the classes, [c]."""
        return list(self._core.classes)

    @property
    def attributes(self):
        """Names of the attributes, [a]."""
        return list(self._core.attributes)

    @property
    def association(self):
        """float32 [c, a], in [0, 1]: how much a class has of an attribute."""
        return self._core.association

    def __reduce__(self):
        return Knowledge, (self._source,)

    def __repr__(self):
        return f"Knowledge({len(self.classes)} classes, {len(self.attributes)} attributes)"


def _table(source):
    attributes = sorted({str(one) for row in source.values() for one in row})
    column = {name: i for i, name in enumerate(attributes)}
    association = np.zeros((len(source), len(attributes)), np.float32)
    for i, row in enumerate(source.values()):
        for name in row:
            association[i, column[str(name)]] = row[name] if isinstance(row, dict) else 1
    return engine.Knowledge.make([str(name) for name in source], attributes, association)


class Fitted:
    """A method fitted on base classes: ``protocom.fit(...)``, or ``Fitted(path)`` of a file of ``protocom fit``."""

    def __init__(self, path):
        self._core = engine.Fitted.read(os.fspath(path))

    @classmethod
    def _of(cls, core):
        made = cls.__new__(cls)
        made._core = core
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
        """The same as a space for any other classes: it adapts to those at hand."""
        return Fitted._of(self._core.space())

    def __reduce__(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "fitted.npz")
            self.save(path)
            with open(path, "rb") as file:
                return _fitted_of, (file.read(),)

    def __repr__(self):
        return f"Fitted({self.method!r}, {len(self.classes)} base classes, d={self.n_features})"


def _fitted_of(data):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "fitted.npz")
        with open(path, "wb") as file:
            file.write(data)
        return Fitted(path)


def fit(method="plda", X=None, y=None, *, val=None, knowledge=None, seed=1, progress=None):
    """Fits a method on base classes: many images of classes other than those that are asked about.

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
            raise UsageError(f"X has {rows.shape[1]} numbers a row, X of val {more.shape[1]}")
        rows, labels = np.concatenate([rows, more]), _arrays.joined(labels, own)
    return FeatureSet(rows, labels, split)


def knowledge_of(given):
    """The library's object for None, a Knowledge, a path or a dict."""
    if given is None:
        return None
    return (given if isinstance(given, Knowledge) else Knowledge(given))._core


def fitted_of(given, space=None):
    """The library's objects for a Fitted, a path, or a list of either, and for a space."""
    if given is not None and space is not None:
        raise UsageError("give 'fitted' for base classes like these or 'space' for any others, not both")
    several = given if isinstance(given, (list, tuple)) else [] if given is None else [given]
    found = [(one if isinstance(one, Fitted) else Fitted(one))._core for one in several]
    if space is not None:
        found.append((space if isinstance(space, Fitted) else Fitted(space))._core.space())
    return found


def model_of(given):
    """The library's object for None or a path of ``protocom complete``."""
    return None if given is None else engine.CompletionModel(os.fspath(given))


def base_of(given):
    """(X, y numbered) of base classes, or (None, None)."""
    if given is None:
        return None, None
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise Error("base should be (X, y): features of base classes and their labels")
    features = _arrays.rows(given[0], "X of base")
    return features, _arrays.numbered(_arrays.labels(given[1], len(features), "base"))[1].astype(np.int64)
