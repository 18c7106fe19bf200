"""Encoders: from images and texts to vectors."""
import os

from . import _arrays, _given_images
from ._engine import engine


_PASS = 64  # images of a pass of an encoder


class _Told:
    """Progress of what is read."""

    def __init__(self, callback, images):
        self._callback, self._total = callback, len(images) if isinstance(images, (list, tuple)) else 0
        self(0)

    def __call__(self, done):
        self._callback("extract", done, self._total, "")


class Backbone:
    """An image encoder: ONNX, a folder of Hugging Face, TensorFlow Lite, weights or TorchScript (docs/encoders.md), by its
    path or by its name where it is installed.

    ``preprocess``: for a file that does not say what images it takes, "imagenet", "clip", "half" or "plain"
    (":size=64" where they are smaller than 224). ``output``: which of several outputs of an ONNX or TorchScript file
    is the feature, or a value inside an ONNX file.
    """

    def __init__(self, path, *, preprocess="", output="", device="auto"):
        self._core = engine.Backbone(os.fspath(path), preprocess, output, device)

    def extract(self, images, *, on_error="raise", progress=None):
        """Features of images -> float32 [n, d].

        ``images``: as ``Recognizer.enrol`` takes them. ``on_error``: as ``Recognizer.classify`` takes it; where it is
        "skip", the row of an image that cannot be read is NaN. ``progress``: callable(what, done, total, detail); the
        total is 0 where it is not known.
        """
        given = _given_images.several(images)
        tell = None if progress is None else _Told(progress, images)
        return _given_images.features_of_all(
            given, lambda some: self._core.extract(some, None), on_error, together=_PASS, dim=self.dim, tell=tell)

    @property
    def dim(self):
        """d"""
        return self._core.dim

    @property
    def preprocessing(self):
        """What becomes of an image before the encoder sees it, in words."""
        return self._core.preprocessing

    def __repr__(self):
        return f"Backbone(d={self.dim}, {self.preprocessing})"


class TextEncoder:
    """A text encoder: a folder of Hugging Face (CLIP, SigLIP, sentence encoders), read as data (docs/encoders.md).

    Examples
    --------
    ::

        vectors = protocom.TextEncoder("clip-folder").encode(["a bird", "a photo of a dog."])
    """

    def __init__(self, folder):
        self._folder = os.fspath(folder)
        self._core = engine.TextEncoder(self._folder)

    def encode(self, texts):
        """The vector of each text: float32 [n, d], as the network gives them (CLIP's are not of unit length)."""
        return self._core.encode(texts_of(texts))

    @property
    def dim(self):
        """d"""
        return self._core.dim

    @property
    def longest(self):
        """The longest text in tokens; what is behind that is left out."""
        return self._core.longest

    @property
    def compares_with_images(self):
        """Whether cosines with features of images count: those of its own image encoder."""
        return self._core.compares_with_images

    def __reduce__(self):
        return TextEncoder, (os.path.abspath(self._folder),)

    def __repr__(self):
        return f"TextEncoder({self._folder!r}, d={self.dim})"


def texts_of(given, what="a text"):
    return [_arrays.text(one, what) for one in ([given] if isinstance(given, str) else given)]
