"""Episodes as arrays of integers: rows of the features, padded by -1 if episodes differ in size."""
import os

import numpy as np

from . import _arrays
from ._damage import reading
from ._errors import Error, UsageError
from ._later import json, zipfile
from ._whole_file import whole_file

_KINDS = {"classes": "class", "support": "row", "query": "row", "pool": "row"}  # what the integers of a part index
_PARTS = tuple(_KINDS)
_FEW_BYTES, _MOST_UNPACKED = 1 << 26, 64  # what a file may unpack to, whatever its size; for each of its bytes


# -- an npz, which identifies classes and images by name


def write(path, core, features):
    """`core`: the library's episodes of these features."""
    arrays = core.arrays()
    used = {"class": np.unique(arrays["classes"]), "row": _used(arrays)}
    called = {"class": features.names, "row": features._core.ids}
    names = {kind: [(number, called[kind][number]) for number in used[kind].tolist()] for kind in used}
    header = {"shape": core.head(), "hash": core.hash, "names": names}
    with whole_file(path) as name:
        np.savez_compressed(name, **arrays, header=np.array(json.dumps(header)))


def read(path, features, made_of):
    """`made_of` makes the library's episodes of a head and arrays. Throws Error if they are of other features."""
    path = os.fspath(path)
    with reading(path, "episodes of Episodes.save"):
        header, arrays = _content(path)
        names, own = header["names"], {"class": features.names, "row": features._core.ids}
        try:
            renumbered = {kind: _Renumbering(names[kind], own[kind]) for kind in own}
            made = made_of(header["shape"], {part: renumbered[kind](arrays[part]) for part, kind in _KINDS.items()})
        except Error as error:
            raise Error(f"{path} was drawn from other features: {error}") from None
        if made.hash != header["hash"]:
            raise Error(f"{path} was drawn from other features")
        return made


def _content(path):
    """(header, arrays by name); what a small file would unpack to is looked at first."""
    with zipfile.ZipFile(path) as members:
        unpacked = sum(one.file_size for one in members.infolist())
    most = max(_FEW_BYTES, _MOST_UNPACKED * os.path.getsize(path))
    if unpacked > most:
        raise Error(f"{path} is damaged: its members unpack to {unpacked} bytes, expected at most {most}")
    with np.load(path, allow_pickle=False) as file:
        if "header" not in file or not set(_PARTS) <= set(file):
            raise Error(f"{path} holds no episodes: expected a file of Episodes.save")
        return json.loads(str(file["header"])), {part: file[part] for part in _PARTS}


def _used(arrays):
    rows = np.unique(np.concatenate([arrays[part].ravel() for part in _PARTS[1:]]))
    return rows[rows >= 0]


class _Renumbering:
    """From the numbers of a file's classes or rows to those of the features, by their names; -1 stays."""

    def __init__(self, names, own):
        places = {name: i for i, name in enumerate(own)}
        unknown = next((name for _, name in names if name not in places), None)
        if unknown is not None:
            raise Error(f"unknown name '{unknown}'")
        pairs = sorted([(-1, -1), *((number, places[name]) for number, name in names)])
        self._numbers, self._places = np.array(pairs, np.int64).T

    def __call__(self, numbers):
        at = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        if numbers.dtype.kind not in "iu" or not np.array_equal(self._numbers[at], numbers):
            raise Error("numbers without a name")
        return self._places[at]


# -- a user's own


def own(features, support, query, pool, split):
    """(head, arrays) of rows [e, n, k] and [e, n, q]."""
    parts = {"support": _rows(support, "support", features), "query": _rows(query, "query", features)}
    count, ways = parts["query"].shape[:2]
    parts["pool"] = np.full((count, ways, 0), -1) if pool is None else _rows(pool, "pool", features)
    for name, one in parts.items():
        if one.shape[:2] != (count, ways):
            raise Error(f"{name} must be [{count}, {ways}, ...], as query is, found {list(one.shape)}")
    sizes = {name: (one >= 0).sum(2) for name, one in parts.items()}
    if not sizes["query"].min():
        raise Error("query must have at least one image of each class")
    for name in ("query", "pool"):
        if sizes[name].min() != sizes[name].max():
            raise Error(f"{name} must have equally many images of every class, found {sizes[name].min()} to {sizes[name].max()}")
    head = {"n_way": ways, "k_shot": int(sizes["support"].min()), "n_query": int(sizes["query"].min()), "split": split, "seed": 0}
    if sizes["support"].max() > head["k_shot"]:
        head["most_shots"] = int(sizes["support"].max())
    if sizes["pool"].max():
        head["unlabelled"] = int(sizes["pool"].max())
    return head, {"classes": features.labels[parts["query"].max(2)], **parts}


def _rows(given, name, features):
    made = _arrays.array(given, name)
    if made.ndim != 3 or made.dtype.kind not in "iu" or not made.size:
        raise Error(f"{name} must be rows of the features, whole numbers [episodes, classes, images], found {made.dtype} {list(made.shape)}")
    if made.min() < -1 or made.max() >= len(features):
        raise Error(f"{name} must be rows from 0 to {len(features) - 1} (-1: none), found {made.min()} to {made.max()}")
    return made.astype(np.int64)


def of_sampler(sampler):
    """(support, query) [e, n, ...] of what gives lists of n * (k + q) rows, class by class, k supports first."""
    try:
        ways, shots, queries = (int(getattr(sampler, name)) for name in ("n_way", "n_shot", "n_query"))
    except (AttributeError, TypeError):
        raise UsageError("a sampler of episodes must have n_way, n_shot and n_query, as easyfsl's TaskSampler has") from None
    drawn = [np.asarray(one).ravel() for one in sampler]
    for i, one in enumerate(drawn):
        if len(one) != ways * (shots + queries):
            raise Error(f"the sampler's episode {i} has {len(one)} rows, expected {ways} x ({shots} + {queries})")
    if not drawn:
        raise Error("the sampler gave no episode")
    rows = np.stack(drawn).reshape(len(drawn), ways, shots + queries)
    return rows[:, :, :shots], rows[:, :, shots:]
