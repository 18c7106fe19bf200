"""Encoders: from images and texts to vectors."""
import os

from . import _arrays, _given_images
from ._engine import engine


_PASS = 64  # images of a pass of an encoder


class _Told:
    """Reports the number of images read to a progress callback."""

    def __init__(self, callback, images):
        self._callback, self._total = callback, len(images) if isinstance(images, (list, tuple)) else 0
        self(0)

    def __call__(self, done):
        self._callback("extract", done, self._total, "")


class Backbone:
    """An image encoder: ONNX, a Hugging Face folder, TensorFlow Lite, weights or TorchScript (docs/encoders.md).

    Parameters
    ----------
    path : path of the file or folder, or the name of an installed encoder
    preprocess : for a file that does not state its preprocessing: "imagenet", "clip", "half" or "plain", of 224 x 224
        pixels; "plain:size=64" for another size
    output : output of an ONNX or TorchScript file to use as the feature, or a value inside an ONNX file
    device : "auto", "cpu", "cuda"
    """

    def __init__(self, path, *, preprocess="", output="", device="auto"):
        self._core = engine.Backbone(
            _arrays.fspath(path), _arrays.text(preprocess, "preprocess"), _arrays.text(output, "output"), _arrays.text(device, "device")
        )

    def extract(self, images, *, on_error="raise", progress=None):
        """Features of images -> float32 [n, d].

        ``images``: as ``Recognizer.enrol`` takes them. ``on_error``: "raise", or "skip": the row of an unreadable image
        is NaN. ``progress``: callable(what, done, total, detail); the total is 0 if it is unknown.
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
        """How images are prepared, in words."""
        return self._core.preprocessing

    def __repr__(self):
        return f"Backbone(d={self.dim}, {self.preprocessing})"


class TextEncoder:
    """A text encoder: a Hugging Face folder (CLIP, SigLIP, sentence encoders), read as data (docs/encoders.md).

    Examples
    --------
    ::

        vectors = protocom.TextEncoder("clip-folder").encode(["a bird", "a photo of a dog."])
    """

    def __init__(self, folder):
        self._folder = _arrays.fspath(folder)
        self._core = engine.TextEncoder(self._folder)

    def encode(self, texts):
        """The vector of each text: float32 [n, d], not normalised."""
        return self._core.encode(texts_of(texts))

    @property
    def dim(self):
        """d"""
        return self._core.dim

    @property
    def longest(self):
        """The longest text in tokens; longer ones are cut."""
        return self._core.longest

    @property
    def compares_with_images(self):
        """Whether its vectors can be compared with features of its image encoder, by cosine."""
        return self._core.compares_with_images

    def __reduce__(self):
        return TextEncoder, (os.path.abspath(self._folder),)

    def __repr__(self):
        return f"TextEncoder({self._folder!r}, d={self.dim})"


def texts_of(given, what="a text"):
    return [_arrays.text(one, what) for one in ([given] if isinstance(given, str) else given)]
