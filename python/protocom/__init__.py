"""Few-shot classification: classes learned from one to ten images each.

    import protocom
    classifier = protocom.PLDA().fit(X, y)          # features [m, d] and labels of any type
    probabilities = classifier.predict_proba(Q)     # [q, c]

``PLDA`` and ``make`` classify features, ``evaluate`` compares methods, ``Recognizer`` classifies images, ``Backbone``
extracts their features, ``TextEncoder`` encodes texts, ``pretrain``, ``complete`` and ``metatrain`` train. The C++
library is loaded at its first use.
"""
from ._answer import Answer
from ._boxes import Boxes, Crop, crops
from ._built_with import VERSION as __version__
from ._classifier import Classifier, make
from ._encoders import Backbone, TextEncoder
from ._engine import engine as _engine
from ._errors import Error, ImportRefused, TypeRefused, UsageError
from ._evaluation import Episodes, Results, episodes, evaluate
from ._features import FeatureSet
from ._fitted import Fitted, fit
from ._given_images import images_in
from ._knowledge import Knowledge
from ._methods import describe, methods
from ._own_method import OwnMethod
from ._plda import PLDA
from ._recognizer import Recognizer
from ._tests import TestResult
from ._training import Training, complete, metatrain, pretrain
from . import easyfsl


def threads():
    """Number of threads that the library uses."""
    return _engine.threads()


def set_threads(count):
    """Sets the number of threads that the library uses, for the whole process."""
    _engine.set_threads(count)


def set_engine(name):
    """Sets the engine that runs encoders opened from now on, for the whole process.

    "onnxruntime": the package `onnxruntime`, for ONNX files, on the CPU. "torch": LibTorch, for every format.
    "auto", the default: ONNX Runtime if it is installed, the file is ONNX and there is no GPU; else LibTorch.
    """
    _engine.set_engine(_arrays.text(name, "name"))


__all__ = [
    "PLDA", "Answer", "Backbone", "Boxes", "Classifier", "Crop", "Episodes", "Error", "FeatureSet", "Fitted", "Knowledge", "OwnMethod",
    "Recognizer", "Results", "TestResult", "TextEncoder", "Training", "UsageError", "complete", "crops", "describe", "easyfsl",
    "episodes", "evaluate", "fit", "images_in",
    "make", "metatrain", "methods", "pretrain", "set_engine", "set_threads", "threads",
]

for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = "protocom"  # where users find it, in tracebacks and pickles
