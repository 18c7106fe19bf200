"""Translates the library's messages, which name options of the command line, to parameters of the package."""
import logging
import re

# Parameters whose name is not that of the option with "_" for "-".
_PARAMETERS = {
    "batch-together": "together", "class": "name", "class-split": "split", "describe": "descriptions",
    "k-shot": "shots", "lr": "learning_rate", "n-query": "queries", "n-way": "ways", "resume": "resume",
    "seeds": "seed", "table": "attributes", "val-episodes": "validation_episodes",
}

# Commands for which the package has functions; messages name the others unchanged.
_COMMANDS = [
    (re.compile(r"^(?:features|queries): features hold NaN or infinity"), "Input X contains NaN or infinity"),
    (re.compile(r"`protocom fit --method ([\w-]+)`(, then give its file by --fitted)?"),
     r'`protocom.fit("\1", ...)`, then `protocom.make(..., fitted=...)`'),
    (re.compile(r"`protocom pretrain --method ([\w-]+)`"), r"`protocom pretrain --method \1` (the command line)"),
    (re.compile(r"\(protocom fit, --fitted\)"), "(`protocom.fit`, fitted=...)"),
    (re.compile(r"\(protocom extract --maps\)"), "(`protocom extract --maps`)"),
    (re.compile(r"protocom extract (--backbone|with a ready encoder), then fit"),
     "protocom.Backbone(...).extract(...), then protocom.fit"),
    (re.compile(r"\(protocom fit\)"), "(`protocom.fit`)"),
    (re.compile(r"run `protocom fit` with"), "run `protocom.fit` with"),
    (re.compile(r"\(protocom calibrate [^)]*\)"), "(`Recognizer.calibrate`)"),
    (re.compile(r"protocom knowledge embeddings makes them a knowledge file"),
     "protocom.Knowledge({name: vector, ...}) takes them"),
    (re.compile(r"\(protocom knowledge embeddings\)"), "(`protocom.Knowledge({name: vector, ...})`)"),
    (re.compile(r"recognizer create --text-encoder"), "Recognizer.create(..., text_encoder=...)"),
]

_NEEDS = {
    "features of base classes": "protocom.make(..., base=(X, y))",
    "knowledge of the classes": "protocom.make(..., knowledge=...)",
    "a completion model with its knowledge": "protocom.make(..., model=..., knowledge=...)",
}

_OPTION = re.compile(r"(?:(?<=[\s(])|^)--([a-z][a-z-]*[a-z])( (?=\d))?")
_AGAIN = [
    (re.compile(r"('[a-z_]+')(?:,| or) \1"), r"\1"),  # two options that are one parameter
    (re.compile(r"\b([a-z_]+) \('\1'\)"), r"\1"),  # "shots (--k-shot)"
]


def in_python(message):
    """A message with parameters of the package in place of options of the command line."""
    for pattern, words in _COMMANDS:
        message = pattern.sub(words, message)
    pieces = message.split("`")  # every second one is a command, and stays
    pieces[::2] = [_OPTION.sub(_parameter, one) for one in pieces[::2]]
    message = "`".join(pieces)
    for pattern, words in _AGAIN:
        message = pattern.sub(words, message)
    return _with_way(message)


def _parameter(found):
    option, value = found.groups()
    name = _PARAMETERS.get(option, option.replace("-", "_"))
    return f"{name}=" if value else f"'{name}'"


def _with_way(message):
    found = re.fullmatch(r"'[^']+' needs (.+)", message)
    way = _NEEDS.get(found[1]) if found else None
    return f"{message}: {way}" if way else message


class Filter(logging.Filter):
    """Translates what the library logs."""

    def filter(self, record):
        if record.msg == "%s" and len(record.args) == 1 and isinstance(record.args[0], str):
            record.args = (in_python(record.args[0]),)
        return True
