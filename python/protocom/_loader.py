"""Features of the batches of a loader, by a user's network."""
import contextlib
import sys

import numpy as np

from . import _arrays
from ._errors import Error


def features_of(module, loader):
    """(float32 [m, d], labels [m]) of batches (images, labels)."""
    rows, labels = [], []
    with _asked(module) as features:
        for number, batch in enumerate(loader):
            images, given = _pair(batch, number)
            rows.append(_rows(features(images), number))
            labels.append(np.array(_arrays.array(given, "labels"), ndmin=1))  # a copy, as of the features
            _check(rows, labels, number)
    if not rows:
        raise Error("the loader is empty: expected at least one batch")
    return np.concatenate(rows), _arrays.joined(*labels)


def _pair(batch, number):
    if not isinstance(batch, (tuple, list)) or len(batch) < 2:
        raise Error(f"batch {number} of the loader must be (images, labels), found {type(batch).__name__}")
    return batch[0], batch[1]


def _rows(found, number):
    made = _arrays.array(found, f"the features of batch {number}")
    if made.ndim != 2 or made.dtype.kind != "f":
        raise Error(
            f"the features of batch {number} must be numbers [b, d], found {made.dtype} {list(made.shape)}: give a "
            f"function that takes the one output of the network, pooled"
        )
    return made.astype(np.float32)  # a copy: the next batch may have this one's memory


def _check(rows, labels, number):
    if len(rows[-1]) != len(labels[-1]) or rows[-1].shape[1] != rows[0].shape[1]:
        raise Error(
            f"batch {number} has {len(labels[-1])} labels and features {list(rows[-1].shape)}, "
            f"expected [{len(labels[-1])}, {rows[0].shape[1]}]"
        )


@contextlib.contextmanager
def _asked(module):
    """The function to call: a PyTorch module in eval mode, without gradients, on its own device."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(module, torch.nn.Module):
        yield module
        return
    device = next((one.device for one in module.parameters()), None)
    modes = {one: one.training for one in module.modules()}
    module.eval()
    try:
        with torch.no_grad():
            yield lambda images: module(images if device is None or not hasattr(images, "to") else images.to(device))
    finally:
        for one, training in modes.items():
            one.training = training
