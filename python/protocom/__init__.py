"""Few-shot classification: new classes from one to ten images each.

    import protocom
    classifier = protocom.PLDA().fit(X, y)          # features [m, d] and labels of any type
    probabilities = classifier.predict_proba(Q)     # [q, c]

``PLDA`` and ``make`` classify features, ``evaluate`` compares methods, ``Recognizer`` works on images, ``Backbone``
makes features of them, ``TextEncoder`` vectors of texts, ``pretrain``, ``complete`` and ``metatrain`` train. The C++ library is loaded when it is first needed.
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
    """How many threads the library uses."""
    return _engine.threads()


def set_threads(count):
    """Sets how many threads the library uses, for all callers."""
    _engine.set_threads(count)


def set_engine(name):
    """Sets the engine of encoders that are opened from now on, in the whole process.

    "onnxruntime": the package `onnxruntime`, for ONNX files, on the processor. "torch": LibTorch, for every kind of
    file. "auto", the default: ONNX Runtime if it is installed, the file is ONNX and there is no GPU; else LibTorch.
    """
    _engine.set_engine(name)


__all__ = [
    "PLDA", "Answer", "Backbone", "Boxes", "Classifier", "Crop", "Episodes", "Error", "FeatureSet", "Fitted", "Knowledge", "OwnMethod",
    "Recognizer", "Results", "TestResult", "TextEncoder", "Training", "UsageError", "complete", "crops", "describe", "easyfsl",
    "episodes", "evaluate", "fit", "images_in",
    "make", "metatrain", "methods", "pretrain", "set_engine", "set_threads", "threads",
]

for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = "protocom"  # where users find it, in tracebacks and pickles
