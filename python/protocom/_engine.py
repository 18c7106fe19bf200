"""The C++ library, loaded at its first use."""
import contextlib
import importlib
import importlib.util
import os
import signal

from . import _torch

# OpenMP's threads spin only briefly before they sleep, which makes small operators several times faster if other programs
# use the same cores. OpenMP reads this when it is loaded, so it has no effect if OpenMP was loaded before.
_SPINS = "3000"


@contextlib.contextmanager
def _interrupts_later():
    """Delays Ctrl-C until the module is imported: during the import it would become an ImportError and leave half a
    module."""
    came = []
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        try:
            signal.signal(signal.SIGINT, lambda *given: came.append(given))
        except ValueError:  # in another thread, which Ctrl-C does not reach
            handler = None
    try:
        yield
    finally:
        if callable(handler):
            signal.signal(signal.SIGINT, handler)
            if came:
                handler(*came[0])


def _load():
    added = "GOMP_SPINCOUNT" not in os.environ and "OMP_WAIT_POLICY" not in os.environ
    if added:
        os.environ["GOMP_SPINCOUNT"] = _SPINS
    _torch.watch()
    try:
        return importlib.import_module("protocom._core")
    finally:
        if added:
            os.environ.pop("GOMP_SPINCOUNT", None)  # another thread may have been here


def _onnxruntime_folder():
    """The folder of the library of the package `onnxruntime`, which is not imported."""
    try:
        found = importlib.util.find_spec("onnxruntime")
    except (ImportError, ValueError):  # a package that is half installed, or a module made by hand
        return None
    folders = (found.submodule_search_locations if found else None) or []
    return os.path.join(folders[0], "capi") if folders else None


class _Engine:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        with _interrupts_later():
            core = _load()
            folder = _onnxruntime_folder()
            if folder:
                core.prefer_onnxruntime(folder)
            self.__dict__.update({key: value for key, value in vars(core).items() if not key.startswith("__")})
        return self.__dict__[name]


engine = _Engine()
