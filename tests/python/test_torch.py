"""Beside PyTorch: in processes of their own, since what is imported first counts."""
import subprocess
import sys

import pytest

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

OTHER = """
import sys, types
torch = types.ModuleType("torch")
torch.__version__ = "2.99.1+cpu"
sys.modules["torch"] = torch
import protocom
"""


@pytest.mark.parametrize("order", ["first", "last"])
def test_shares_a_process_with_the_pytorch_of_its_libtorch(order):
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode != 0:
        pytest.skip("PyTorch is not there")
    subprocess.run([sys.executable, "-W", "ignore", "-c", BOTH, order], check=True)


def test_refuses_another_pytorch_in_one_sentence():
    done = subprocess.run([sys.executable, "-c", OTHER], capture_output=True, text=True)
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("protocom.Error: ") and "2.99.1+cpu" in last and "process of its own" in last
