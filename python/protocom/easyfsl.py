"""easyfsl's interface for any method of protocom.

    model = protocom.easyfsl.FewShotClassifier("plda", backbone)
    model.process_support_set(support_images, support_labels)
    scores = model(query_images)

``presets``: name of an easyfsl class -> the method and settings with its answers; "easyfsl:bd-cspn" selects them in
``make`` and ``evaluate``.
"""
import sys

import numpy as np

from . import _arrays
from ._easyfsl_presets import PRESETS as presets
from ._classifier import Classifier
from ._errors import UsageError


class FewShotClassifier:
    """Call ``process_support_set``, then the object. ``backbone``: any callable from images to features [n, d]; None: the
    images are features. Scores are log probabilities [q, c], a tensor if the queries are a tensor."""

    def __init__(self, method="plda", backbone=None, **parts):
        self.classifier = Classifier(method, **parts)
        self.backbone = backbone

    def compute_features(self, images):
        """[n, ...] -> [n, d]"""
        return images if self.backbone is None else self.backbone(images)

    def process_support_set(self, support_images, support_labels):
        """support_images [m, ...], support_labels [m] in [0, c)."""
        labels = _arrays.array(support_labels, "support_labels")
        if labels.dtype.kind not in "iu":
            raise UsageError(f"support labels must be whole numbers 0, 1, ..., c - 1, found {labels.dtype}; protocom.make takes labels of any type")
        if len(labels) and not np.array_equal(np.unique(labels), np.arange(labels.max() + 1)):
            raise UsageError("support labels must be 0, 1, ..., c - 1, each of which occurs")
        self.classifier.fit(_arrays.array(self.compute_features(support_images), "support_images"), labels)
        return self

    def forward(self, query_images):
        """query_images [q, ...] -> [q, c]"""
        features = self.compute_features(query_images)
        logits = self.classifier.logits(_arrays.array(features, "query_images"))
        scores = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(query_images, torch.Tensor):
            return scores
        return torch.from_numpy(scores).to(query_images.device)

    __call__ = forward

    def as_module(self):
        """The same as a ``torch.nn.Module``, for easyfsl's loops; it contains a backbone that is a Module. Without
        gradients."""
        import torch

        class Module(torch.nn.Module):
            def __init__(self, classifier):
                super().__init__()
                self.classifier = classifier
                self.backbone = classifier.backbone if isinstance(classifier.backbone, torch.nn.Module) else None

            def compute_features(self, images):
                with torch.no_grad():
                    return self.classifier.compute_features(images)

            def process_support_set(self, support_images, support_labels):
                with torch.no_grad():
                    self.classifier.process_support_set(support_images, support_labels)

            def forward(self, query_images):
                with torch.no_grad():
                    return self.classifier(query_images)

        Module.__name__ = Module.__qualname__ = type(self).__name__
        return Module(self)
