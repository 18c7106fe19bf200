"""Coexistence with PyTorch: a process can hold only one LibTorch, since two export the same symbols and crash. protocom's
is loaded at the first use of an encoder, a training or a trained method; before that, any PyTorch may be imported."""
import copy
import os
import re
import sys

from ._built_with import TORCH
from ._errors import ImportRefused

_ADVICE = "use separate processes, or build protocom against that PyTorch (docs/python.md)"


def _is_another(version):
    return version != "" and version.split("+")[0].split(".")[:2] != TORCH.split(".")[:2]


def _version_in(folders):
    """The version of a PyTorch that is not imported or is being imported, from its version.py."""
    for folder in folders or ():
        try:
            with open(os.path.join(folder, "version.py"), encoding="utf-8", errors="replace") as file:
                found = re.search(r"""^__version__\b[^=\n]*=\s*["']([^"']+)""", file.read(), re.M)
        except OSError:
            continue
        if found:
            return found[1]
    return ""


def _ours_is_loaded():
    core = sys.modules.get("protocom._core")
    return core is not None and core.torch_is_loaded()


class _Refusal:
    """Replaces PyTorch's loader: find_spec succeeds, since code may only check for PyTorch, and the import fails."""

    def __init__(self, version):
        self._version = version

    def create_module(self, spec):
        raise ImportRefused(
            f"PyTorch {self._version} cannot be imported into this process: protocom has loaded LibTorch {TORCH} already, "
            f"and both export the same symbols: {_ADVICE}",
            name=spec.name, path=spec.origin,
        )

    def exec_module(self, module):
        self.create_module(module.__spec__)


class _Guard:
    """First in sys.meta_path: once our LibTorch is loaded, it refuses any other PyTorch before its code runs."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or not _ours_is_loaded():
            return None
        for finder in list(sys.meta_path):
            spec = finder.find_spec(name, path, target) if finder is not self and hasattr(finder, "find_spec") else None
            if spec is not None:
                break
        else:
            return None
        version = _version_in(spec.submodule_search_locations)
        if not _is_another(version):
            return None
        spec = copy.copy(spec)  # it may be the finder's own
        spec.loader = _Refusal(version)
        return spec


_guard = _Guard()


def watch():
    """Starts checking `import torch`. A build without LibTorch works with any PyTorch."""
    if TORCH and _guard not in sys.meta_path:
        sys.meta_path.insert(0, _guard)
