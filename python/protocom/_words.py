"""Translates the library's messages, which name options of the command line, to parameters of the package."""
import re

from ._later import logging

# Parameters whose name is not that of the option with "_" for "-".
_PARAMETERS = {
    "batch-together": "together", "class": "name", "class-split": "split", "describe": "descriptions",
    "k-shot": "shots", "lr": "learning_rate", "n-query": "queries", "n-way": "ways", "resume": "resume",
    "seeds": "seed", "table": "attributes", "val-episodes": "validation_episodes",
}

# Commands for which the package has functions; messages name the others unchanged. Patterns are compiled when there is a message.
_COMMANDS = [
    (r"^(?:features|queries|X): features hold NaN or infinity", "Input X contains NaN or infinity"),
    (r"`protocom fit --method ([\w-]+)`(, then give its file by --fitted)?",
     r'`protocom.fit("\1", ...)`, then give its result as fitted='),
    (r"`protocom pretrain --method ([\w-]+)`", r"`protocom pretrain --method \1` (the command line)"),
    (r"\(protocom fit, --fitted\)", "(`protocom.fit`, fitted=...)"),
    (r"\(protocom extract --maps\)", "(`protocom extract --maps`)"),
    (r"protocom extract (--backbone|with a ready encoder), then fit",
     "protocom.Backbone(...).extract(...), then protocom.fit"),
    (r"\(protocom fit\)", "(`protocom.fit`)"),
    (r"run `protocom fit` with", "run `protocom.fit` with"),
    (r"\(protocom calibrate [^)]*\)", "(`Recognizer.calibrate`)"),
    (r"protocom knowledge embeddings makes them a knowledge file",
     "protocom.Knowledge({name: vector, ...}) takes them"),
    (r"\(protocom knowledge embeddings\)", "(`protocom.Knowledge({name: vector, ...})`)"),
    (r"recognizer create --text-encoder", "Recognizer.create(..., text_encoder=...)"),
    (r"recognizer create --model", "Recognizer.create(..., model=...)"),
]

_NEEDS = {
    "features of base classes": "protocom.make(..., base=(X, y))",
    "knowledge of the classes": "protocom.make(..., knowledge=...)",
    "a completion model with its knowledge": "protocom.make(..., model=..., knowledge=...)",
}

_OPTION = r"(?:(?<=[\s(])|^)--([a-z][a-z-]*[a-z])( (?=\d))?"
_AGAIN = [
    (r"('[a-z_]+')(?:,| or) \1", r"\1"),  # two options that are one parameter
    (r"\b([a-z_]+) \('\1'\)", r"\1"),  # "shots (--k-shot)"
]


def in_python(message):
    """A message with parameters of the package in place of options of the command line."""
    for pattern, words in _COMMANDS:
        message = re.sub(pattern, words, message)
    pieces = message.split("`")  # every second one is a command, and stays
    pieces[::2] = [re.sub(_OPTION, _parameter, one) for one in pieces[::2]]
    message = "`".join(pieces)
    for pattern, words in _AGAIN:
        message = re.sub(pattern, words, message)
    return _with_way(message)


def _parameter(found):
    option, value = found.groups()
    name = _PARAMETERS.get(option, option.replace("-", "_"))
    return f"{name}=" if value else f"'{name}'"


def _with_way(message):
    found = re.fullmatch(r"'[^']+' needs (.+)", message)
    way = _NEEDS.get(found[1]) if found else None
    return f"{message}: {way}" if way else message


def log(level, message):
    """Logs a message of the library, translated."""
    logging.getLogger("protocom").log(level, "%s", in_python(message))
