"""Features of labelled images, and the split of their classes."""
import os

import numpy as np

from . import _arrays, _html, _loader, _parquet
from ._engine import engine
from ._errors import Error, TypeRefused, UsageError


class FeatureSet:
    """Features of labelled images, and the split of their classes into base, val and novel.

    Parameters
    ----------
    features : array [m, d]
    labels : [m], of any type
    split : str, dict or list
        "base", "val" or "novel" (or "train", "validation", "test"): one for all classes, a dict by class, or a list in
        the sorted order of the classes.
    names : list of str [c], optional
        Names of the classes, if labels are integers from 0 to c - 1.
    ids : list of str [m], optional
        Names of the images.
    """

    def __init__(self, features, labels, split="novel", *, names=None, ids=None):
        rows = _arrays.rows(features, "features")
        if labels is None:
            raise UsageError("labels are missing: give features with labels [m], a FeatureSet, or the path of a file that has both")
        classes, numbers = _arrays.numbered(_arrays.labels(labels, len(rows), "FeatureSet"))
        if names is not None:
            numbers, classes = _numbered_by(classes, numbers, names)
        splits = _splits_of(split, classes)
        self._core = engine.FeatureSet(
            rows, numbers.astype(np.int64), [_arrays.text(str(one), "a label") for one in classes], splits,
            [_arrays.text(str(one), "an id") for one in ids or ()],
        )

    @classmethod
    def read(cls, path, *, labels=None, split=None):
        """Reads a file of ``protocom extract``, an ``npz`` of the same form, ``npy`` with the files ``labels`` and ``split``,
        or Parquet with the columns ``embedding`` (lists), ``label`` and optionally ``split`` and ``id`` (needs pyarrow)."""
        if _parquet.is_parquet(path):
            if labels is not None or split is not None:
                raise UsageError(f"{_arrays.fspath(path)} has labels and splits of its own: give it alone")
            return cls.from_parquet(path)
        made = cls.__new__(cls)
        made._core = engine.FeatureSet.read(*(None if one is None else _arrays.fspath(one) for one in (path, labels, split)))
        return made

    @classmethod
    def from_parquet(cls, path):
        """Reads Parquet as ``read`` does, whatever the file's name."""
        return _feature_set_of(*_parquet.read(_arrays.fspath(path)))

    @classmethod
    def extract(cls, module, loader, split="novel", *, names=None, ids=None):
        """Features of labelled images, extracted by your own network.

        Parameters
        ----------
        module : callable, images [b, ...] -> features [b, d]
            A ``torch.nn.Module`` is called with tensors on the device of its parameters, in ``eval`` mode and without
            gradients; afterwards its mode is restored.
        loader : iterable of batches (images, labels [b]), such as a ``DataLoader``
        split, names, ids : as FeatureSet takes them; default of ``names``: the dataset's ``classes``
        """
        names = _classes_of(loader) if names is None else names
        return cls(*_loader.features_of(module, loader), split, names=names, ids=ids)

    def save(self, path):
        """Writes an npz for ``protocom evaluate --features``, or if the path ends in ``.parquet`` Parquet, a row per image."""
        if _parquet.is_parquet(path):
            self.to_parquet(path)
        else:
            self._core.save(_arrays.fspath(path))

    def to_parquet(self, path):
        """Writes Parquet as ``save`` does, whatever the file's name."""
        _parquet.write(path, self.features, self.labels, self.names, self.split, self._core.ids)

    @property
    def features(self):
        """float32 [m, d]"""
        return self._core.features

    @property
    def labels(self):
        """int64 [m], indices into ``names``."""
        return self._core.labels

    @property
    def names(self):
        """Names of the classes, [c]."""
        return list(self._core.names)

    @property
    def split(self):
        """"base", "val" or "novel" of each class, [c]."""
        return list(self._core.split)

    def of(self, split):
        """(X, y) of all images whose class is in a split: features float32 [k, d] and class names [k]."""
        if not isinstance(split, str) or split not in ("base", "val", "novel"):
            raise UsageError(f"split must be base, val or novel, found {_arrays.shown(split)}")
        names = np.array(self.names)
        chosen = np.array([one == split for one in self.split])[self.labels]
        return self.features[chosen], names[self.labels[chosen]]

    def __reduce__(self):
        return _feature_set_of, (self.features, self.labels, self.names, self.split, list(self._core.ids))

    def __deepcopy__(self, memo):
        return self  # immutable

    def __len__(self):
        return len(self.labels)

    def _repr_html_(self):
        own, images = self.split, np.array(self.split)[self.labels]
        counts = [(split, own.count(split), int((images == split).sum())) for split in dict.fromkeys(own)]
        return _html.table(counts, ["split", "classes", "images"])

    def __repr__(self):
        return f"FeatureSet({len(self)} images of {len(self.names)} classes, d={self.features.shape[1]})"


def _feature_set_of(features, labels, names, split, ids):
    made = FeatureSet.__new__(FeatureSet)
    made._core = engine.FeatureSet(features, labels, names, split, ids)
    return made


def _classes_of(loader):
    """Names of the classes of a torchvision dataset, or None."""
    names = getattr(getattr(loader, "dataset", None), "classes", None)
    return None if names is None else [str(one) for one in names]


def _numbered_by(classes, numbers, names):
    if classes.dtype.kind not in "iu" or len(classes) and not 0 <= classes[0] <= classes[-1] < len(names):
        raise Error(f"labels must be whole numbers from 0 to {len(names) - 1}, the indices of names")
    return classes[numbers], list(names)


def _splits_of(split, classes):
    if isinstance(split, str):
        return [split] * len(classes)
    if isinstance(split, dict):
        by_name = {str(key): value for key, value in split.items()}
        for one in classes:
            if str(one) not in by_name:
                raise Error(f"split has no entry for class {str(one)!r}")
        return [str(by_name[str(one)]) for one in classes]
    if not hasattr(split, "__iter__"):
        raise TypeRefused(f"split must be a word for all classes, a dict by class or a list of one word per class, found {_arrays.shown(split)}")
    splits = [str(one) for one in split]
    if len(splits) != len(classes):
        raise Error(f"split has {len(splits)} entries for {len(classes)} classes, found {_arrays.shown(splits)}: give base, val or novel for each class")
    return splits


def feature_set(features, labels, split):
    if isinstance(features, FeatureSet):
        if labels is not None or split is not None:
            raise UsageError("a FeatureSet has labels and splits of its own: give it alone (evaluated= chooses a split)")
        return features
    if isinstance(features, (str, os.PathLike)):
        if labels is not None or split is not None:
            raise UsageError(f"{_arrays.fspath(features)} has labels and splits of its own: give it alone (evaluated= chooses a split)")
        return FeatureSet.read(features)
    return FeatureSet(features, labels, "novel" if split is None else split)
