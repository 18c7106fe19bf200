"""The C++ library, loaded when it is first needed: it brings LibTorch, whose loading takes half a second."""
import importlib
import os
import sys

# Threads of OpenMP wait for one another for a moment only before they sleep: beside other programs on the same cores
# small operators are several times faster. Read when OpenMP is loaded, so it counts only where nobody has loaded it.
_SPINS = "3000"


def check_torch():
    """Refuses a PyTorch in this process whose LibTorch is another one than ours."""
    from ._errors import Error
    from ._built_with import TORCH

    torch = sys.modules.get("torch")
    version = str(getattr(torch, "__version__", "")) if torch is not None else ""
    if version and version.split("+")[0].split(".")[:2] != TORCH.split(".")[:2]:
        raise Error(
            f"protocom is built with LibTorch {TORCH} and cannot share a process with the PyTorch {version} that is "
            f"imported: use it in a process of its own, or build it against that PyTorch (docs/python.md)"
        )


class _Engine:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        check_torch()
        added = "GOMP_SPINCOUNT" not in os.environ and "OMP_WAIT_POLICY" not in os.environ
        if added:
            os.environ["GOMP_SPINCOUNT"] = _SPINS
        try:
            core = importlib.import_module("protocom._core")
        finally:
            if added:
                del os.environ["GOMP_SPINCOUNT"]
        self.__dict__.update({key: value for key, value in vars(core).items() if not key.startswith("__")})
        return self.__dict__[name]


engine = _Engine()
