"""The type stubs say what the package has: every public name with its parameters."""
import ast
import inspect
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import protocom
from conftest import COLOURS, photo


def parameters_of(node):
    arguments = node.args
    named = [one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
    return named + [one.arg for one in (arguments.vararg, arguments.kwarg) if one is not None]


def of_runtime(function):
    given = inspect.signature(function).parameters.values()
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one.name for one in given if one.kind not in several] + [one.name for one in given if one.kind in several]


def public_members(kind):
    members = {name: inspect.unwrap(getattr(value, "__func__", value)) for name, value in vars(kind).items()}
    return {name: value for name, value in members.items()
            if (name == "__init__" or not name.startswith("_")) and (inspect.isfunction(value) or isinstance(value, property))}


def test_every_name_and_parameter_is_in_the_stubs_and_nothing_else():
    stub = ast.parse((pathlib.Path(protocom.__file__).parent / "__init__.pyi").read_text())
    there = {node.name: node for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")}
    assert set(there) == {name for name in protocom.__all__ if name != "easyfsl"}
    for name, node in there.items():
        value = getattr(protocom, name)
        if isinstance(node, ast.FunctionDef):
            expected = of_runtime(protocom.Classifier.__init__)[1:] if name == "make" else of_runtime(value)
            assert parameters_of(node) == expected, name
            continue
        stated = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
        members = public_members(value)
        assert {one for one in stated if not one.startswith("_")} == {one for one in members if not one.startswith("_")}, name
        for one, member in members.items():
            if inspect.isfunction(member) and one in stated:
                expected = of_runtime(member)
                if one == "open":  # which hands its options on
                    expected = expected[:1] + of_runtime(value.__init__)[1:]
                assert parameters_of(stated[one]) == expected, f"{name}.{one}"


def keys_of_typed_dicts():
    """Name -> keys, of every TypedDict of the stubs."""
    found = {}
    for node in ast.parse((pathlib.Path(protocom.__file__).parent / "__init__.pyi").read_text()).body:
        if isinstance(node, ast.ClassDef) and node.bases and ast.unparse(node.bases[0]) in ("TypedDict", *found):
            found[node.name] = {one.target.id for one in node.body} | found.get(ast.unparse(node.bases[0]), set())
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "TypedDict":
            found[node.targets[0].id] = {key.value for key in node.value.args[1].keys}
    return found


def mixed_up(photos, tmp_path):
    """A recognizer with misplaced photos, one that is in two classes, and classes that are confused."""
    made = protocom.Recognizer.create(tmp_path / "mixed.pcm", backbone=photos / "encoder.pt", moments=False)
    for colour in COLOURS:
        made.enrol(colour, [photo(colour, 600 + i) for i in range(8)])
        made.enrol("any", photo(colour, 600))
    made.enrol("red", photo("blue", 700))
    made.enrol("also blue", [photo("blue", 800 + i) for i in range(8)])
    return made


def test_dicts_have_the_keys_that_the_stubs_say(photos, tmp_path):
    keys = keys_of_typed_dicts()
    mine = protocom.Recognizer.create(tmp_path / "mine.pcm", backbone=photos / "encoder.pt", images=photos / "my-photos")
    asked = protocom.images_in(photos / "holiday")
    tested = mine.test([*asked, asked[0]], ["blue", "green", "green", "okapi"])
    x, y = np.random.default_rng(1).normal(size=(40, 8)), np.arange(40) % 5
    results = protocom.evaluate(x, y, methods=["mean", "plda"], ways=3, shots=1, queries=2, episodes=3)
    calibrated = mine.calibrate()
    answer = mine.classify(asked[0])
    labels = mixed_up(photos, tmp_path).check_labels()
    for name, one in {
        "_Calibration": calibrated, "_Exchange": calibrated["exchange"][0], "_Nearest": answer.nearest[0], "_TestedClass": tested.classes[0],
        "_Confusion": tested.confusion[0], "_UnknownClass": tested.unknown_classes[0], "_TestedImage": tested.tested[0], "_Bin": tested.bins[0],
        "_TestComparison": tested.compare(tested), "_Spec": protocom.describe("tim"), "_Row": results.rows[0],
        "_Suggestion": mine.suggest([photo("red", 5)])[0], "_Explanation": mine.explain(asked[0]), "_LabelCheck": labels,
        "_Misplaced": labels["misplaced"][0], "_SharedImage": labels["shared"][0], "_ConfusedClasses": labels["confused"][0],
        "_LeftOutClass": labels["classes"][0],
        "_Comparison": results.compare("plda", "mean")[0], "_EnrolledClass": mine.enrol("blue", asked[:1])["classes"][0],
    }.items():
        assert set(one) == keys[name], name
    parameters = [one for name in protocom.methods() for one in protocom.describe(name)["parameters"]]
    assert {key for one in parameters for key in one} == keys["_Parameter"]


RIGHT = """
import numpy as np
import protocom
x, y = np.zeros((4, 3)), ["a", "a", "b", "b"]
share: float = protocom.make("mean", seed=3).fit(x, y, sample_weight=[1, 1, 2, 2]).score(x, y)
mine = protocom.Recognizer.open("mine.pcm", top=3)
name: str = mine.classify("1.png").name
names: list[str] = [one.name for one in mine.classify(["1.png", b"bytes"])]
some = [one.name for one in mine.classify(protocom.images_in("holiday"), on_error="skip") if one is not None]
one = protocom.episodes(x, y)[0]["support"][0][0] + 1
def own(support: np.ndarray, labels: np.ndarray, query: np.ndarray) -> np.ndarray:
    return query
results = protocom.evaluate(x, y, methods=["plda", own, protocom.OwnMethod(own, name="b")])
gain: float = results.compare(own, "plda")[0]["difference"] + results.rows[0]["accuracy"]
added: int = mine.enrol("a", ["1.png"])["classes"][0]["added"]
next_one: str = mine.suggest("unsorted", 9, on_error="skip")[0]["runner_up"]
patches: float = mine.explain("1.png")["effects"].sum() + mine.check_labels()["misplaced"][0]["likelier_probability"]
measured = mine.to_onnx("mine.onnx", int8=True, images=["photos"])["measured"]
smaller: float = 0 if measured is None else measured["milliseconds"] / measured["milliseconds_float32"]
mine.test("labelled").to_html("test.html", worst=9)
protocom.FeatureSet.from_parquet("a.parquet").to_parquet("b.parquet")
"""

WRONG = [
    'protocom.make("mean", sed=3)', 'protocom.make(3)', 'protocom.Recognizer.open("mine.pcm", tops=3)', 'mine.classify("1.png").title',
    'mine.classify(["1.png"]).name', 'mine.classify(["1.png"], on_error="skip")[0].name', 'mine.classify("1.png", on_error="ignore")',
    'protocom.episodes(x, y)[0]["shots"]', 'results.rows[0]["score"]', 'results.compare(own, "plda")[0]["gap"]',
    'mine.enrol("a", ["1.png"])["class"]', 'protocom.describe("mean")["title"]', 'protocom.evaluate(x, y, methods=[3])',
    'protocom.PLDA(transductive="yes")', 'mine.enrol("a", "1.png", on_error="ignore")', 'mine.classify("1.png").nearest[0]["score"]',
    'mine.calibrate()["limit"]', 'mine.test("1", ["a"]).tested[0]["label"]', 'protocom.describe("mean")["parameters"][0]["title"]',
    'mine.suggest(["1.png"])[0]["score"]', 'mine.suggest(["1.png"], on_error="ignore")', 'mine.explain("1.png")["patches"]',
    'mine.check_labels()["wrong"]', 'mine.check_labels()["shared"][0]["score"]', 'mine.to_onnx("1")["measured"]["bytes_float32"]',
    'mine.to_onnx("1")["size"]', 'protocom.Error("1").index + 1',
    'protocom.Backbone("1").extract(3)', 'protocom.FeatureSet.extract(3, [])',
]


def laid(folder):
    """A program with its mistakes, beside the package's stubs as they are installed."""
    (folder / "user.py").write_text(RIGHT + "\n".join(WRONG) + "\n")
    package = pathlib.Path(protocom.__file__).parent
    (folder / "protocom").mkdir()
    for name in ("__init__.pyi", "easyfsl.py", "py.typed"):
        (folder / "protocom" / name).write_text((package / name).read_text())
    return folder


def expected_lines():
    first = RIGHT.count("\n") + 1
    return set(range(first, first + len(WRONG)))


def test_mypy_finds_planted_mistakes_and_nothing_else(tmp_path):
    api = pytest.importorskip("mypy.api")
    laid(tmp_path)
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\nfollow_imports = silent\n")
    told, failed, _ = api.run([str(tmp_path / "user.py"), "--config-file", str(tmp_path / "mypy.ini"), "--cache-dir", str(tmp_path / "cache")])
    assert not failed
    lines = {int(found[1]) for found in re.finditer(r"user\.py:(\d+): error", told)}
    assert lines == expected_lines(), told
    assert "__init__.pyi" not in told


def test_pyright_finds_planted_mistakes_and_nothing_else(tmp_path):
    pytest.importorskip("pyright")
    done = subprocess.run([sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "user.py"],
                          cwd=laid(tmp_path), capture_output=True, text=True)
    if done.returncode not in (0, 1):
        pytest.skip(f"pyright does not start: {done.stderr.strip()[-200:]}")
    found = [one for one in json.loads(done.stdout)["generalDiagnostics"] if one["severity"] == "error"]
    unresolved = [one for one in found if one.get("rule") == "reportMissingImports"]
    if unresolved:
        pytest.skip(unresolved[0]["message"])
    lines = {one["range"]["start"]["line"] + 1 for one in found}
    assert lines == expected_lines(), [one["message"] for one in found]
