"""Episodes as an npz of whole numbers: rows of the features, padded by -1 where episodes differ in size."""
import json
import os

import numpy as np

from ._errors import Error

_KINDS = {"classes": "class", "support": "row", "query": "row", "pool": "row"}  # what the numbers of a part are of
_PARTS = tuple(_KINDS)


def write(path, told, episodes, own_hash):
    """`told`: what the JSON says; `episodes`: the dicts of numbers."""
    shape = {name: value for name, value in told.items() if name != "episodes"}
    names = {}  # number of a class or row -> its name in the JSON
    for words, numbers in zip(told["episodes"], episodes):
        for part in _PARTS:
            pairs = zip(_flat(numbers[part]), _flat(words.get(part, [])))
            names.update(((_KINDS[part], number), word) for number, word in pairs)
    arrays = {part: _padded([one[part] for one in episodes]) for part in _PARTS}
    header = {"shape": shape, "hash": own_hash, "names": {kind: _names(names, kind) for kind in ("class", "row")}}
    np.savez_compressed(os.fspath(path), **arrays, header=np.array(json.dumps(header)))


def read(path, made_of):
    """`made_of`: Episodes of what a JSON says. Throws Error where the features are others."""
    with np.load(os.fspath(path), allow_pickle=False) as file:
        if "header" not in file or not set(_PARTS) <= set(file):
            raise Error(f"{os.fspath(path)} holds no episodes: expected a file of Episodes.save")
        header = json.loads(str(file["header"]))
        arrays = {part: file[part] for part in _PARTS}
    names = {kind: dict(pairs) for kind, pairs in header["names"].items()}
    told = [
        {part: _named(arrays[part][i], names[kind]) for part, kind in _KINDS.items()}
        for i in range(len(arrays["classes"]))
    ]
    try:
        made = made_of({**header["shape"], "episodes": told})
    except Error as error:
        why = str(error).partition("episodes.json: ")[2] or str(error)  # the file between is of no interest
        raise Error(f"{os.fspath(path)} has episodes of other features: {why}") from None
    if made.hash != header["hash"]:
        raise Error(f"{os.fspath(path)} has episodes of other features")
    return made


def _flat(given):
    return [number for one in given for number in (one if isinstance(one, list) else [one])]


def _names(names, kind):
    return [(number, word) for (own, number), word in names.items() if own == kind]


def _padded(parts):
    """[e, n] of numbers, or [e, n, most] of lists of them."""
    rows = [[one if isinstance(one, list) else [one] for one in part] for part in parts]
    n = max((len(part) for part in rows), default=0)
    most = max((len(one) for part in rows for one in part), default=0)
    made = np.full((len(rows), n, most), -1, np.int64)
    for i, part in enumerate(rows):
        for k, one in enumerate(part):
            made[i, k, : len(one)] = one
    is_flat = any(not isinstance(one, list) for part in parts for one in part)
    return made[:, :, 0] if is_flat else made


def _named(array, names):
    if array.ndim == 1:
        return [names[number] for number in array.tolist() if number >= 0]
    return [[names[number] for number in row if number >= 0] for row in array.tolist()]
