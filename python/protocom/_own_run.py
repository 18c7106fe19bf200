"""Runs methods written in Python on the episodes of an evaluation."""
import sys

import numpy as np

from . import _arrays
from ._errors import Error
from ._own_method import in_one_line

_ASKED_AGAIN = 4  # episodes of a list that are repeated with queries in another order
_TRIALS = 8  # orders of the queries that are independent of their classes
_TIE = 1e-4  # share of the largest difference between scores
_TOLD = 64  # episodes between two calls of progress


def _references_of_kept():
    """Of an array that a dictionary and a local name hold: Python 3.14 counts one less than the versions before it."""
    kept = {"array": np.empty(0)}
    array = kept.get("array")
    return sys.getrefcount(array)


_REFERENCES = _references_of_kept()

class _List:
    """The rows of a list of episodes, one after the other."""

    def __init__(self, core, table):
        self.task, self.seed, self.table = core.task, core.seed, table
        rows = dict(zip(("support", "labels", "query", "truth"), core.rows()))
        self._arrays = {name: values for name, (values, _) in rows.items()}
        self._starts = {name: starts.tolist() for name, (_, starts) in rows.items()}
        self.ways = core.ways().tolist()
        self._kept = {}
        for one in self._arrays.values():
            one.setflags(write=False)

    def __len__(self):
        return len(self.ways)

    def of(self, name, i):
        """Integers of an episode: "support" and "query" are rows of the table, "labels" and "truth" class indices."""
        starts = self._starts[name]
        return self._arrays[name][starts[i] : starts[i + 1]]

    def features(self, name, rows):
        """Features of these rows. Reuses the memory of the last ones of this name unless it is referenced: half the time."""
        kept = self._kept.get(name)
        if kept is None or kept.shape[:-1] != rows.shape or sys.getrefcount(kept) > _REFERENCES:
            kept = self._kept[name] = np.empty((*rows.shape, self.table.shape[1]), np.float32)
        return self.table.take(rows, 0, out=kept, mode="clip")  # rows were checked

    def shape(self, i):
        """Episodes of equal shape can share a call."""
        support, query = self._starts["support"], self._starts["query"]
        return support[i + 1] - support[i], query[i + 1] - query[i], self.ways[i]

    def where(self, i, *more):
        which = f"episodes {i} to {more[-1]}" if more else f"episode {i}"
        return f"{which} of {self.task}, seed {self.seed}"


class _Run:
    """A method on one list."""

    def __init__(self, method, function, episodes):
        self._method, self._function, self._list = method, function, episodes
        self._together = method.together

    def accuracies(self, progress):
        """Percent of the queries, float64 [episodes]."""
        found, count, i = np.empty(len(self._list)), len(self._list), 0
        told = 0
        while i < count:
            stop = self._stop(i)
            for k, predicted in enumerate(self._answers(i, stop)):
                truth = self._list.of("truth", i + k)
                found[i + k] = 100.0 * np.count_nonzero(predicted == truth) / len(truth)
            i = stop
            if i == count or i >= told + _TOLD:
                progress(i, count)
                told = i
        return found

    def _stop(self, i):
        """One past the last episode that shares a call with `i`."""
        shape, stop = self._list.shape(i), i + 1
        while stop < min(i + self._together, len(self._list)) and self._list.shape(stop) == shape:
            stop += 1
        return stop

    def _answers(self, begin, stop):
        """Predicted labels of each of these episodes."""
        if not self._together:
            return [self.labels(begin, self._list.of("query", begin))[0]]
        queries = [self._list.of("query", i) for i in range(begin, stop)]
        scores = self._asked_together(range(begin, stop), queries)
        return [self._labels(one, begin + k)[0] for k, one in enumerate(scores)]

    def labels(self, i, rows):
        """Predicted labels of rows of the table as queries of episode `i`, and their scores; None if the method returns
        labels."""
        if self._together:
            return self._labels(self._asked_together([i], [rows])[0], i, len(rows))
        support = self._list.features("support", self._list.of("support", i))
        given = (support, self._list.of("labels", i).copy(), self._list.features("query", rows))
        del support
        return self._labels(self._asked(given, [i]), i, len(rows))

    def _asked_together(self, numbers, queries):
        first = numbers[0]
        support = np.stack([self._list.of("support", i) for i in numbers])
        labels = np.stack([self._list.of("labels", i) for i in numbers])
        given = (self._list.features("support", support), labels, self._list.features("query", np.stack(queries)))
        found = self._asked(given, numbers)
        if found.ndim not in (2, 3) or len(found) != len(numbers):
            b, q, n = len(numbers), len(queries[0]), self._list.ways[first]
            raise Error(
                f"'{self._method.name}' gave an array of shape {found.shape} in {self._list.where(*numbers)}: expected labels "
                f"[{b}, {q}] or scores [{b}, {q}, {n}]"
            )
        return found

    def _asked(self, given, numbers):
        try:
            found = self._function(*given)
            return found if type(found) is np.ndarray else _arrays.array(found, "an answer")
        except Exception as error:
            raise Error(f"'{self._method.name}' failed in {self._list.where(*numbers)}: {in_one_line(error)}") from error

    def _labels(self, found, i, count=None):
        q, n = count or self._list.shape(i)[1], self._list.ways[i]
        if found.shape == (q, n) and found.dtype.kind in "fiu":
            return self._of_scores(found, i)
        if found.shape == (q,) and found.dtype.kind in "iu":
            if found.min() < 0 or found.max() >= n:
                at = int(np.argmax((found < 0) | (found >= n)))
                self._refuse(f"the label {found[at]} for query {at}", i, f"labels are whole numbers from 0 to {n - 1}")
            return found, None
        what = f"an array of {found.dtype} and shape {found.shape}"
        self._refuse(what, i, f"expected labels, whole numbers [{q}], or scores [{q}, {n}]")

    def _of_scores(self, scores, i):
        total = scores.sum()
        if total != total and np.isnan(scores).any():  # infinite scores of both signs sum to NaN too
            at = int(np.argmax(np.isnan(scores).any(1)))
            self._refuse(f"NaN for query {at}", i, "scores must be numbers")
        return scores.argmax(1), scores

    def _refuse(self, what, i, expected):
        raise Error(f"'{self._method.name}' gave {what} in {self._list.where(i)}: {expected}")

    # -- checks of the method

    def check(self):
        """Repeats some episodes with the queries in another order and, for an inductive method, with a single query. Throws
        Error if predictions differ. Returns the numbers of episodes and predictions compared, and of those that changed
        by rounding or random numbers."""
        numbers = np.unique(np.linspace(0, len(self._list) - 1, _ASKED_AGAIN).astype(int)).tolist()
        queries = ties = 0
        for i in numbers:
            rows = self._list.of("query", i)
            before = self.labels(i, rows)
            order = np.random.RandomState(i).permutation(len(rows))
            ties += self._compare(i, before, order, "when the queries come in another order: it uses their order, which reveals their classes")
            queries += len(rows)
            if not self._method.transductive and len(rows) > 1:
                self._compare(i, before, order[:1], "when it is asked alone: give transductive=True for a method that uses several queries")
        return len(numbers), queries, ties

    def _compare(self, i, before, order, how):
        rows = self._list.of("query", i)
        after = self.labels(i, rows[order])
        changed = np.flatnonzero(before[0][order] != after[0])
        clear = [k for k in changed.tolist() if _lead(before, order[k]) > _TIE or _lead(after, k) > _TIE]
        if clear and not self._draws(i, before[0]):
            raise Error(
                f"'{self._method.name}' answers query {order[clear[0]]} of {self._list.where(i)} differently {how}"
            )
        return len(changed)

    def _draws(self, i, before):
        """Whether answers change with an order that is independent of the classes: by rounding or random numbers."""
        rows, truth = self._list.of("query", i), self._list.of("truth", i)
        for trial in range(_TRIALS):
            order = np.argsort(truth + 0.5 * np.random.RandomState(trial).rand(len(truth)), kind="stable")
            if (before[order] != self.labels(i, rows[order])[0]).any():
                return True
        return False


def _lead(labels, k):
    """Difference of the best and second score, as a share of the largest difference; infinite if only labels are known."""
    scores = labels[1]
    if scores is None or scores.shape[1] < 2:
        return np.inf
    low, second, best = np.sort(scores[k].astype(np.float64))[[0, -2, -1]]
    return (best - second) / (best - low) if best > low else 0.0


class _Told:
    """Progress as ``evaluate`` reports it."""

    def __init__(self, callback, name):
        self._callback, self._name = callback, name

    def __call__(self, done, total):
        if self._callback is not None:
            self._callback("evaluate", done, total, self._name)


def add_to(evaluation, method, features, lists, progress):
    """Runs a method on all lists, and adds its accuracies to an evaluation of the library."""
    function = method._ready(features)
    table = features.features
    for number, core in enumerate(lists):
        run = _Run(method, function, _List(core, table))
        checked = run.check()
        evaluation.add(number, method.name, method.mode, run.accuracies(_Told(progress, method.name)), *checked)
