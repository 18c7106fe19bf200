"""Beside PyTorch: in processes of their own, since what is imported first counts."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import types

import pytest

from protocom import _torch
from protocom._built_with import TORCH

BOTH = """
import sys
if sys.argv[1] == "first":
    import torch, protocom
else:
    import protocom
    protocom.methods()
    import torch
import numpy
x = torch.arange(160.0).reshape(20, 8).sin()
y = torch.arange(20) % 4
found = protocom.PLDA().fit(x.requires_grad_(), y).predict_proba(x)
assert numpy.array_equal(found, protocom.PLDA().fit(x.detach().numpy(), y.numpy()).predict_proba(x.detach().numpy()))
assert torch.nn.Linear(8, 2)(x).sum().backward() is None  # PyTorch still works
scores = protocom.easyfsl.FewShotClassifier("mean").process_support_set(x, y)(x.detach())
assert isinstance(scores, torch.Tensor) and scores.shape == (20, 4)
"""

# What most programs do: features of PyTorch, answers of protocom, in either order.
FEATURES = """
import sys
import numpy
def fit():
    import protocom
    assert len(protocom.methods()) > 40
    return protocom.PLDA().fit(numpy.eye(3), [0, 1, 2]).predict(numpy.eye(3)).tolist()
def multiply():
    import torch
    return torch.eye(3).sum().item()
first, last = (fit, multiply) if sys.argv[1] == "protocom" else (multiply, fit)
for turn in range(2):
    assert first() in ([0, 1, 2], 3.0) and last() in ([0, 1, 2], 3.0)
maps = open("/proc/self/maps").read()
print("libtorch_cpu.so.1" in maps, "torch" in sys.modules)
"""

# What needs our LibTorch: argv[1] says whether that, or PyTorch, comes first.
ANOTHER = """
import importlib.util, sys
import numpy
def train():
    import protocom
    return protocom.make("meta-baseline") is not None
def multiply():
    import torch
    return torch.eye(3).sum().item()
first, last = (train, multiply) if sys.argv[1] == "protocom" else (multiply, train)
answer = first()
assert importlib.util.find_spec("torch").origin.endswith("__init__.py")
for turn in range(2):
    try:
        last()
    except ValueError as error:
        assert ("torch" in sys.modules) == (first is multiply), error
    else:
        raise AssertionError("both are there")
import protocom
assert protocom.PLDA().fit(numpy.eye(3), [0, 1, 2]).predict(numpy.eye(3)).tolist() == [0, 1, 2]
assert first() == answer
last()
"""


def run(code, *arguments, python=sys.executable, folder=None):
    path = os.pathsep.join(filter(None, [str(folder or ""), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run([python, "-W", "ignore", "-c", code, *arguments], capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=path))


def check_refusal(done, order, version, loaded):
    assert done.returncode == 1, done.stderr
    last = done.stderr.strip().splitlines()[-1]
    if order == "protocom":
        assert last.startswith(f"protocom.ImportRefused: PyTorch {version} cannot be imported into this process: "), done.stderr
        assert f"LibTorch {TORCH}" in last
    else:
        assert last.startswith(f"protocom.Error: a method that is trained by gradients needs LibTorch: "), done.stderr
        assert f"has loaded {loaded}" in last
    assert "separate processes" in last


@pytest.fixture
def pretend(tmp_path):
    """Makes a PyTorch of a version, of files as a real one is found by, that leaves a mark where it is run."""
    def make(version):
        (tmp_path / "torch").mkdir()
        (tmp_path / "torch/version.py").write_text(f"__all__ = ['__version__']\n__version__ = '{version}'\ndebug = False\n")
        source = tmp_path / "torch/empty.c"
        source.write_text("int protocom_test_of_another_torch;\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "torch/libtorch_cpu.so", source], check=True)
        (tmp_path / "torch/__init__.py").write_text(
            "import ctypes, os, types\n"
            "library = ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'libtorch_cpu.so'))\n"
            "open(os.path.join(os.path.dirname(__file__), 'was-run'), 'w').close()\n"
            "from .version import __version__\n"
            "eye = lambda n: types.SimpleNamespace(sum=lambda: types.SimpleNamespace(item=lambda: float(n)))\n")
        return tmp_path

    return make


@pytest.mark.parametrize("order", ["first", "last"])
def test_shares_a_process_with_the_pytorch_of_its_libtorch(order):
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode != 0:
        pytest.skip("PyTorch is not there")
    subprocess.run([sys.executable, "-W", "ignore", "-c", BOTH, order], check=True)


@pytest.mark.parametrize("order", ["protocom", "torch"])
def test_classifies_features_beside_any_pytorch(order, pretend):
    done = run(FEATURES, order, folder=pretend("2.99.1+cpu"))
    assert done.stdout == "False True\n", done.stderr


@pytest.mark.parametrize("order", ["protocom", "torch"])
def test_refuses_two_libtorches_in_one_sentence(order, pretend):
    folder = pretend("2.99.1+cpu")
    check_refusal(run(ANOTHER, order, folder=folder), order, "2.99.1+cpu", folder / "torch/libtorch_cpu.so")
    assert (folder / "torch/was-run").exists() == (order == "torch")


@pytest.fixture
def another_python():
    """A Python that has a PyTorch of another LibTorch, and its version."""
    python = os.environ.get("PROTOCOM_TORCH_PYTHON")
    if not python:
        pytest.skip("PROTOCOM_TORCH_PYTHON names no Python with another PyTorch: scripts/try-torch makes one")
    found = run("import torch; print(torch.__version__); print(torch.__file__)", python=python)
    assert found.returncode == 0, found.stderr
    version, file = found.stdout.split()
    assert version.split(".")[:2] != TORCH.split(".")[:2], f"{python} has PyTorch {version}, which is no other one"
    return python, version, os.path.dirname(file)


@pytest.mark.parametrize("order", ["protocom", "torch"])
def test_classifies_features_beside_a_real_pytorch(order, another_python):
    done = run(FEATURES, order, python=another_python[0])
    assert done.stdout == "False True\n", done.stderr


@pytest.mark.parametrize("order", ["protocom", "torch"])
def test_refuses_the_libtorch_of_a_real_pytorch(order, another_python):
    python, version, folder = another_python
    check_refusal(run(ANOTHER, order, python=python), order, version, f"{folder}/lib/libtorch_cpu.so")


def test_lets_pytorch_of_the_same_libtorch_pass(pretend):
    code = ("import sys, protocom\nprotocom.make('meta-baseline')\nimport torch\n"
            "print(torch.__file__, type(torch.__loader__).__name__)")
    folder = pretend(f"{TORCH}+cpu")
    done = run(code, folder=folder)
    assert done.stdout.split() == [str(folder / "torch/__init__.py"), "SourceFileLoader"], done.stderr


def test_leaves_all_other_imports_alone(tmp_path):
    guard = _torch._Guard()
    assert guard.find_spec("torchvision") is None
    assert guard.find_spec("torch.version", ["/"]) is None
    start = "import sys, protocom\nprotocom.make('meta-baseline')\nsys.path[:] = [sys.argv[1]]\nimport torch"
    done = run(start, str(tmp_path))
    assert done.stderr.strip().splitlines()[-1] == "ModuleNotFoundError: No module named 'torch'"
    (tmp_path / "torch").mkdir()  # no PyTorch, but a folder of that name
    done = run(start + "\nprint(torch)", str(tmp_path))
    assert "NamespaceLoader" in done.stdout or "(namespace)" in done.stdout, done.stderr


def test_a_found_spec_stays_as_it_was(pretend, monkeypatch):
    spec = importlib.machinery.PathFinder.find_spec("torch", [str(pretend("2.99.1"))])
    finder = types.SimpleNamespace(find_spec=lambda name, path=None, target=None: spec)
    monkeypatch.setattr(_torch, "_ours_is_loaded", lambda: True)
    monkeypatch.setattr(sys, "meta_path", [_torch._guard, object(), finder])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    refused = importlib.util.find_spec("torch")
    assert refused.submodule_search_locations == spec.submodule_search_locations and refused.origin == spec.origin
    with pytest.raises(ImportError, match="PyTorch 2.99.1 cannot be imported") as caught:
        importlib.util.module_from_spec(refused)
    assert caught.value.name == "torch" and caught.value.path == spec.origin
    with pytest.raises(ImportError, match="PyTorch 2.99.1 cannot be imported"):
        refused.loader.exec_module(types.SimpleNamespace(__spec__=refused))
    assert isinstance(spec.loader, importlib.machinery.SourceFileLoader)


INTERRUPTED = """
import signal, subprocess, time
import protocom
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores Ctrl-C
subprocess.Popen(["sh", "-c", "sleep .05; kill -INT $PPID"])
try:
    protocom.methods()
    time.sleep(60)
except KeyboardInterrupt:
    print(len(protocom.methods()) > 0)
"""


def test_ctrl_c_while_the_library_is_loaded():
    done = run(INTERRUPTED)
    assert done.stdout == "True\n", done.stderr


INTERRUPTED_WITHIN = """
import signal, sys
import protocom
signal.signal(signal.SIGINT, signal.default_int_handler)
seen = []
def interrupt(event, given):
    if event == "import" and given[0] == "protocom._core" and given[1]:
        seen.append("loaded")
    elif seen == ["loaded"] and event == "object.__setattr__":  # by the module's own code
        seen.append("interrupted")
        signal.raise_signal(signal.SIGINT)
sys.addaudithook(interrupt)
try:
    protocom.methods()
except KeyboardInterrupt:
    print(seen[1], signal.getsignal(signal.SIGINT) is signal.default_int_handler, len(protocom.methods()) > 0)
"""


def test_ctrl_c_within_the_module():
    done = run(INTERRUPTED_WITHIN)
    assert done.stdout == "interrupted True True\n", done.stderr
