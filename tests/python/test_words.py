"""Messages of the library, which name options of the command line, name parameters in Python."""
import logging
import pathlib
import re

import numpy as np
import pytest

import protocom
from protocom._words import in_python, log

SOURCES = pathlib.Path(__file__).parent.parent.parent / "src"
X = np.random.default_rng(1).normal(2, 1, (6, 8)).astype(np.float32)
Y = ["a", "a", "b", "b", "c", "c"]


def texts():
    """Literals of the library's sources that name an option."""
    for path in SOURCES.rglob("*.cc"):
        source = re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8"))  # those over several lines
        literals = re.findall(r'"((?:[^"\\\n]|\\.)*)"', source)
        yield from (one for one in literals if re.search(r"(^|[\s(])--[a-z]", one))


def test_no_message_of_the_library_names_an_option():
    found = list(texts())
    assert len(found) > 50
    for one in found:
        outside = "".join(in_python(one).split("`")[::2])
        assert not re.search(r"(^|[\s(])--[a-z]{2}", outside), one


@pytest.mark.parametrize("given, expected", {
    "'am3' is not fitted: run `protocom fit --method am3`, then give its file by --fitted":
        "'am3' is not fitted: run `protocom.fit(\"am3\", ...)`, then give its result as fitted=",
    "lower --n-query or --k-shot": "lower 'queries' or 'shots'",
    "'gda-text' needs knowledge of the classes":
        "'gda-text' needs knowledge of the classes: protocom.make(..., knowledge=...)",
    "give --preprocess (`protocom extract --preprocess compare` tries them)":
        "give 'preprocess' (`protocom extract --preprocess compare` tries them)",
    "lower --lr": "lower 'learning_rate'",
    "try --lr 0.01": "try learning_rate=0.01",
    "its attributes (--attributes, --table)": "its attributes",
    "continue with --resume": "continue with 'resume'",
    "a--b is no option": "a--b is no option",
}.items())
def test_options_become_parameters(given, expected):
    assert in_python(given) == expected
    assert in_python(expected) == expected  # a message that is passed on is translated again


@pytest.mark.parametrize("call, words", [
    (lambda: protocom.make("am3").fit(X, Y), 'protocom.fit("am3", ...)'),
    (lambda: protocom.make("gda-text").fit(X, Y), "protocom.make(..., knowledge=...)"),
    (lambda: protocom.make("completed").fit(X, Y), "protocom.make(..., model=..., knowledge=...)"),
    (lambda: protocom.make("bavardage").fit(X, Y), "protocom.make(..., base=(X, y))"),
    (lambda: protocom.evaluate(X, Y, methods=["mean"], ways=3, shots=9), "lower 'queries' or 'shots'"),
    (lambda: protocom.fit("mean", X, Y), "needs no fitting"),
])
def test_what_a_method_needs_is_said_in_python(call, words):
    with pytest.raises(protocom.Error) as caught:
        call()
    assert words in str(caught.value) and "--" not in str(caught.value)


def test_what_is_logged_is_in_the_words_of_python(caplog):
    with caplog.at_level("WARNING", "protocom"):
        log(logging.WARNING, "assuming plain (--preprocess overrides it)")
    assert caplog.messages == ["assuming plain ('preprocess' overrides it)"]
