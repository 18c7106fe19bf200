"""Imports from checkouts of other programs without installing them: what they import for images, plots, progress or a GPU is replaced by
stubs."""
import ast
import importlib
import inspect
import logging
import sys
import textwrap
import types
import warnings

import numpy
import torch


def stub(name, **attributes):
    module = types.ModuleType(name)
    module.__dict__.update(attributes)
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules.get(parent) or stub(parent), child, module)
    return module


def bare_package(name, folder, **attributes):
    """A package whose modules are found in `folder`, without its __init__."""
    if name not in sys.modules:
        stub(name, __path__=[str(folder)], **attributes)


def stub_what_is_not_needed():
    stub("tqdm", tqdm=lambda items, **_: items)
    stub("tqdm.notebook", tqdm=None)
    stub("matplotlib", use=lambda _: None)
    stub("matplotlib.pyplot")
    stub("matplotlib.patches", Ellipse=None)
    stub("matplotlib.lines", Line2D=None)
    stub("torchvision.transforms")
    stub("PIL", Image=None)
    stub("configargparse")
    stub("sacred", Ingredient=Ingredient)
    numpy.float = float  # gone from NumPy since 1.24
    torch.Tensor.cuda = lambda tensor, *_: tensor
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")


def fresh_import(folder, name):
    """Several checkouts have modules of the same name."""
    top = name.split(".")[0]
    for loaded in [other for other in sys.modules if other.split(".")[0] == top]:
        del sys.modules[loaded]
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


class Ingredient:
    """sacred's: arguments that are not given have the values that the decorated function `config` assigns."""

    def __init__(self, _):
        self.values = {}

    def config(self, function):
        body = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0].body
        self.values = {line.targets[0].id: ast.literal_eval(line.value) for line in body}

    def capture(self, function):
        names = list(inspect.signature(function).parameters)

        def filled(*unnamed, **named):
            left = [name for name in names[len(unnamed):] if name not in named and name in self.values]
            return function(*unnamed, **named, **{name: self.values[name] for name in left})
        return filled


class TorchOfTheProcessor:
    """Stands for the module `torch` in code that asks for a GPU by name."""

    def __getattr__(self, name):
        return getattr(torch, name)

    @staticmethod
    def zeros(*sizes, device=None):
        return torch.zeros(*sizes)

    @staticmethod
    def ones(*sizes, device=None):
        return torch.ones(*sizes)
