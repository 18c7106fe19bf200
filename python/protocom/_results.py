"""Results of an evaluation: rows, tables, comparisons."""
import math
import os

import numpy as np

from . import _arrays, _easyfsl_presets, _html, _own_method
from ._damage import reading
from ._engine import engine
from ._errors import Error, UsageError
from ._later import json
from ._whole_file import whole_file

_EXPECTED = "a file of Results.save or `protocom evaluate --json`"


class Results:
    """The result of an evaluation.

    A method is identified by its label (``rows[0]["method"]``) or as it was given to ``evaluate``. A label omits default
    parameters: "simple-shot" for "simple-shot:transform=cl2n".

    Attributes
    ----------
    rows : list of dict: task, method, mode, accuracy, ci95, gain, gain_ci95 (percent and points)
    findings : dict, the results, differences and checks of ``protocom evaluate --json``, with the accuracy of every episode
    table : str
    """

    _COLUMNS = ("task", "method", "accuracy", "ci95", "gain", "gain_ci95", "mode")

    def __init__(self, findings):
        self.findings = findings
        gains = {
            (one["task"], one["method"]): one
            for one in findings["differences"] if one["baseline"] == findings["baseline"]
        }
        self.rows = []
        for one in findings["results"]:
            gain = gains.get((one["task"], one["method"]), {})
            row = {"gain": gain.get("difference"), "gain_ci95": gain.get("ci95"), **one}
            self.rows.append({name: row[name] for name in self._COLUMNS})

    @classmethod
    def read(cls, path):
        """Reads what ``save`` or ``protocom evaluate --json`` wrote."""
        path = _arrays.fspath(path)
        if os.path.exists(path) and not os.path.isfile(path):
            raise Error(f"cannot read {path}: it is not a plain file")
        with open(path, encoding="utf-8") as file:
            try:
                found = json.load(file)
            except (ValueError, RecursionError) as error:
                raise Error(f"{path} is not JSON: {error}") from None
        if not isinstance(found, dict) or not {"results", "differences", "baseline"} <= set(found):
            raise Error(f"{path} holds no results: expected {_EXPECTED}")
        with reading(path, _EXPECTED):
            made = cls(_with_tasks(found))
            _check(made)
        return made

    def save(self, path):
        """Writes ``findings`` as JSON, which ``Results.read`` reads."""
        with whole_file(_arrays.fspath(path)) as name, open(name, "w", encoding="utf-8") as file:
            json.dump(self.findings, file, ensure_ascii=False)

    def label(self, method):
        """The label of a method: a str as ``protocom.make`` takes it, or your own method."""
        if not isinstance(method, str):
            method = _own_method.own(method).name
        method = _easyfsl_presets.text_of(method)
        labels = list(dict.fromkeys(one["method"] for one in self.findings["results"]))
        if method in labels:
            return method
        own = _label_of(method)
        if own in labels:
            return own
        named = [one for one in labels if one.split(":")[0] == method]
        if len(named) == 1:
            return named[0]
        if named:
            raise UsageError(f"'{method}' is ambiguous ({' or '.join(named)}): name one of them in full")
        raise UsageError(f"'{method}' was not evaluated; there are {', '.join(labels)}")

    def accuracies(self, method, task=None):
        """Accuracy of every episode in percent, float64 [episodes]; default of ``task``: the first one."""
        return np.array(self._result(self.label(method), task)["per_episode"])

    def _result(self, label, task):
        for one in self.findings["results"]:
            if one["method"] == label and task in (None, one["task"]):
                return one
        raise UsageError(f"'{label}' was not evaluated on '{task}'")

    def compare(self, method, baseline, task=None):
        """Compares two methods on the same episodes, by the paired differences of their accuracies.

        Returns
        -------
        list of dict, one for each task (or for the one given): ``task``, ``method``, ``baseline``, ``episodes``,
        ``difference`` and ``ci95`` (points; the 95 % interval is difference ± ci95), ``better`` and ``worse``
        (percent of the episodes)
        """
        own, other = self.label(method), self.label(baseline)
        tasks = list(dict.fromkeys(one["task"] for one in self.findings["results"])) if task is None else [task]
        return [_compared(self._result(own, one), self._result(other, one)) for one in tasks]

    def _cells(self):
        head = ["task", "method", "accuracy %", f"gain over {self.findings['baseline']}", "mode"]
        yield head
        for row in self.rows:
            gain = "" if row["gain"] is None else f"{row['gain']:+.2f} ± {row['gain_ci95']:.2f}"
            yield [row["task"], row["method"], f"{row['accuracy']:.2f} ± {row['ci95']:.2f}", gain, row["mode"]]

    @property
    def table(self):
        """As text."""
        cells = list(self._cells())
        width = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        return "\n".join("  ".join(cell.ljust(size) for cell, size in zip(row, width)).rstrip() for row in cells)

    def to_latex(self):
        """A LaTeX table (booktabs)."""
        head, *body = ([_latex(cell) for cell in row] for row in self._cells())
        top, *lines = (" & ".join(row) + r" \\" for row in (head, *body))
        columns = "ll" + "r" * (len(head) - 3) + "l"
        before, after = [r"\begin{tabular}{%s}" % columns, r"\toprule"], [r"\bottomrule", r"\end{tabular}", ""]
        return "\n".join([*before, top, r"\midrule", *lines, *after])

    def to_pandas(self):
        """A DataFrame of ``rows``; needs pandas."""
        import pandas

        return pandas.DataFrame(self.rows, columns=list(self._COLUMNS))

    def plot(self, axes=None):
        """Bars of accuracy with 95 % intervals, a group per task; needs matplotlib. Returns the axes."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots(figsize=(6, 0.6 + 0.35 * len(self.rows)), layout="constrained")[1]
        rows = self.rows[::-1]
        axes.barh(range(len(rows)), [one["accuracy"] for one in rows], xerr=[one["ci95"] for one in rows])
        axes.set_yticks(range(len(rows)), [f"{one['method']}, {one['task']}" for one in rows])
        axes.set_xlabel("accuracy, %")
        return axes

    def _repr_html_(self):
        head, *body = self._cells()
        return _html.table(body, head)

    def __repr__(self):
        return self.table


def _label_of(method):
    try:
        return engine.label(_arrays.text(method, "method"))
    except Error:  # unknown or not installed: it is not among the results
        return method


def _compared(own, other):
    difference = np.array(own["per_episode"]) - np.array(other["per_episode"])
    spread = difference.std(ddof=1) if len(difference) > 1 else 0.0
    return {
        "task": own["task"], "method": own["method"], "baseline": other["method"], "episodes": len(difference),
        "difference": float(difference.mean()), "ci95": float(1.96 * spread / math.sqrt(len(difference))),
        "better": float(100 * (difference > 0).mean()), "worse": float(100 * (difference < 0).mean()),
    }


def _with_tasks(findings):
    """Adds its task in words to each row, which files of the command line omit."""
    for part in ("results", "differences"):
        findings[part] = [{"task": _task_of(one), **one} for one in findings[part]]
    return findings


def _check(results):
    """Raises any exception for results that are not as `evaluate` makes them."""
    texts, numbers = [results.findings["baseline"]], []
    for row in results.rows:
        texts += [row["task"], row["method"], row["mode"]]
        numbers += [row["accuracy"], row["ci95"]] + ([] if row["gain"] is None else [row["gain"], row["gain_ci95"]])
    for one in results.findings["results"]:
        numbers = numbers + one["per_episode"]  # of lists alone
    any(math.isinf(one) for one in numbers)
    if not "".join(texts).isprintable():
        raise ValueError("text that steers a terminal")


def _task_of(row):
    if "task" in row:
        return row["task"]
    most = f"-{row['k_shot_max']}" if "k_shot_max" in row else ""
    text = f"{row['n_way']}-way {row['k_shot']}{most}-shot"
    if row.get("unlabelled"):
        text += f" + {row['unlabelled']} unlabelled"
    return text + (f", dirichlet({row['alpha']:g})" if "alpha" in row else "")


_LATEX = {"\\": r"\textbackslash{}", "±": r"$\pm$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
          **{one: "\\" + one for one in "&%$#_{}"}}


def _latex(text):
    return "".join(_LATEX.get(one, one) for one in text)
