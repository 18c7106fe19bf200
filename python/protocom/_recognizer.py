"""Recognizers, which keep their classes in a file, and their answers."""
import base64
import html
import os
import unicodedata

import numpy as np

from . import _arrays, _boxes, _given_images
from ._encoders import TextEncoder, texts_of
from ._engine import engine
from ._errors import Error, UsageError
from ._tests import TestResult


def _opened_again(path, options, text_encoder):
    return Recognizer(path, **options, text_encoder=text_encoder)


def _name(given):
    return _arrays.text(given, "a class's name")


class Answer:
    """A recognizer's answer for an image.

    Attributes
    ----------
    name : str, the most probable class
    probability : float
    ranking : list of (class, probability), most probable first
    familiarity : float, how well the image fits any class
    none : float, the probability that it is of none of the classes, which sums to 1 with all of theirs; None without a
        calibration
    none_of_these : bool, none >= 1/2, or None without a calibration
    nearest : list of dict: the most similar enrolled images
    nearest_note : str, why the first class is not that of the nearest image, "" if it is
    attributes : list of dict: the strongest evidence for or against the first class
    set : list of str, the classes that hold the right one with the ``coverage`` that was requested, most probable first;
        else empty
    group : (name, probability) of a group of classes, if ``roll_up`` was requested and the first class is less
        probable; else None
    box : Crop, the classified box, or None for a whole image
    """

    def __init__(self, found):
        vars(self).update({"set": [], "box": None}, **found)  # recognizer/answer_json.cc
        self.ranking = [(one["class"], one["probability"]) for one in found["ranking"]]
        group = found.get("group")
        self.group = (group["name"], group["probability"]) if group else None

    @property
    def name(self):
        return self.ranking[0][0]

    @property
    def probability(self):
        return self.ranking[0][1]

    def __repr__(self):
        return "Answer(none of these)" if self.none_of_these else f"Answer({self.name!r}, {self.probability:.2f})"

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{100 * share:.1f} %</td><td><div style='background:#47a;height:0.8em;"
            f"width:{100 * share:.0f}px'></div></td></tr>"
            for name, share in self.ranking
        )
        return ("<p>none of these</p>" if self.none_of_these else "") + f"<table>{rows}</table>"


class Recognizer:
    """A recognizer in one file, with its encoder, classes and method. May be used from several threads.

    Examples
    --------
    ::

        mine = protocom.Recognizer.create("mine.pcm", images="my-photos")
        mine.classify("holiday/1.jpg").name
    """

    def __init__(self, path, *, method="", together=False, top=5, nearest=3, attributes=0, shares=None, device="auto",
                 text_encoder=None, coverage=None, roll_up=None):
        self._path = os.fspath(path)
        self._text_encoder = text_encoder
        self._options = {
            "method": _arrays.text(method, "method"), "together": together, "top": _arrays.whole(top, "top", 1),
            "nearest": _arrays.whole(nearest, "nearest", 0), "attributes": _arrays.whole(attributes, "attributes", 0),
            "shares": {_name(one): _arrays.number(share, "a share") for one, share in dict(shares or {}).items()},
            "device": device, "coverage": None if coverage is None else _arrays.number(coverage, "coverage"),
            "roll_up": None if roll_up is None else _arrays.number(roll_up, "roll_up"),
        }
        self._opened = engine.Recognizer(self._path, self._options)

    @property
    def _core(self):
        if self._opened is None:
            raise UsageError(f"the recognizer {self._path} is closed: open it again")
        return self._opened

    def close(self):
        """Closes the file; later calls raise an Error. Also at the end of ``with``."""
        self._opened = None

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.close()

    def __len__(self):
        """How many classes there are."""
        return len(self._core.classes())

    def __bool__(self):
        return True  # also without a class

    def __iter__(self):
        """Names of the classes."""
        return iter(self.classes)

    def __contains__(self, name):
        return isinstance(name, str) and unicodedata.normalize("NFC", name) in self.classes

    def __reduce__(self):
        return _opened_again, (os.path.abspath(self._path), self._options, self._text_encoder)

    @classmethod
    def open(cls, path, **options):
        """Opens a file.

        Parameters
        ----------
        method : str, in place of the file's own
        together : bool, images of one call are classified jointly (transductive)
        top, nearest, attributes : int, classes, similar images and attributes of an answer
        coverage : float, answers' ``set`` holds the right class of new images with this probability, 0.9; the enrolled
            images are left out in turn for it
        roll_up : float, where the first class is less probable than this (0.9), answers' ``group`` is the narrowest group
            of classes with it that is as probable, by levels in their titles or names ("animals/birds/robin")
        shares : dict, class proportions among images that are classified together, if they are known
        device : "auto", "cpu", "cuda"
        text_encoder : TextEncoder or its folder, the one that the file was made with, to describe classes in words
        """
        return cls(path, **options)

    @classmethod
    def create(cls, path, *, backbone="", images=None, boxes=None, attributes=None, fitted="", space="", model="", knowledge="",
               text_encoder=None, unlabelled=(), preprocess="", output="", thumbnails=True, half_features=False, moments=True,
               external_backbone=False, **options):
        """Makes a file, and enrols a class for each subfolder of ``images``.

        Parameters
        ----------
        backbone : path of an encoder, or the name of one that is installed (``protocom encoders``); left out, the default one
        images : folder with a subfolder of images for each class, optional
        boxes : boxes of these images, each a separate image: a path of a file or folder of them, or Boxes
        attributes : CSV of their attributes, optional
        fitted, space, model, knowledge : paths, as ``protocom recognizer create`` takes them
        text_encoder : the encoder's own text encoder or its folder (CLIP, SigLIP): the names of classes count beside their
            images, and ``enrol`` takes descriptions
        unlabelled : folder, or paths of images or folders: unlabelled images of the classes, which improve accuracy; at
            most 5,000 are used; not with ``fitted`` or ``model``
        moments : bool, images of one moment (frames of a burst or a video, copies) count as one; else each counts
        preprocess, output : settings that the encoder does not state, as ``Backbone`` takes them
        options : as ``open`` takes them
        """
        paths = {"backbone": backbone or "", "fitted": fitted, "space": space, "model": model, "knowledge": knowledge,
                 "text_encoder": getattr(text_encoder, "_folder", text_encoder) or "", "images": images or "", "attributes": attributes or ""}
        given = {name: os.fspath(one) for name, one in paths.items()}
        given.update(preprocess=preprocess, output=output, thumbnails=thumbnails, half_features=half_features, moments=moments,
                     external_backbone=external_backbone, boxes=_boxes.choice(boxes), unlabelled=_boxes._paths(unlabelled), device=options.get("device", "auto"))
        engine.create_recognizer(os.fspath(path), given)
        try:
            return cls(path, text_encoder=text_encoder, **options)
        except BaseException:
            os.unlink(path)
            raise

    def classify(self, images, *, on_error="raise", boxes=None):
        """An Answer for an image, a list of them for several.

        Images are paths, files open as bytes, their bytes, PIL images, pixels (uint8, or floats from 0 to 1: grey [h, w],
        RGB [h, w, 3], RGBA [h, w, 4], or colours first), or features float32 [d] or [n, d]. Several are a list,
        ``protocom.images_in("holiday")``, or any iterable: a few are held at a time.

        ``on_error``: of an image that cannot be read "raise" raises an Error with its ``index`` and ``path`` (None unless it
        is a file); "skip" logs it, and its answer is None.

        ``boxes``: of images that are paths of photos or folders, a path of a file or folder of boxes, or Boxes: an answer
        for each box, which its ``box`` names.
        """
        if boxes is not None:
            asked = _boxes.crops(images, boxes)
            answers = self.classify(asked, on_error=on_error)
            for answer, box in zip(answers, asked):
                if answer is not None:
                    answer.box = box
            return answers
        if _given_images.is_features(images):
            _given_images.check_on_error(on_error)
            rows = np.atleast_2d(_arrays.array(images, "features"))
            made = [Answer(one) for one in self._core.classify_features(np.ascontiguousarray(rows, np.float32))]
            return made[0] if getattr(images, "ndim", 2) == 1 else made
        given, single = _given_images.images(images)
        rows, places, count = _given_images.features_of(given, self._core.features_of, on_error)
        made = [None] * count
        for place, one in zip(places, self._core.classify_features(rows) if places else ()):
            made[place] = Answer(one)
        return made[0] if single else made

    def classify_series(self, images, *, by=None, gap=60.0):
        """One answer for the images of a burst, a video or a visit to a camera trap, of the mean of their features.

        Parameters
        ----------
        images : images of one series, as ``classify`` takes several; with ``by`` paths of photos, or of a folder
        by : "time": photos taken within ``gap`` seconds of one another, by EXIF, in one folder; "folder": those of a folder

        Returns
        -------
        Answer; with ``by`` a list of (paths, Answer), a pair for each series
        """
        if by is None:
            rows = np.atleast_2d(_arrays.array(images, "features")) if _given_images.is_features(images) else self.features_of(images)
            if len(rows) == 0:
                raise Error("a series needs an image")
            return self.classify(np.asarray(rows, np.float64).mean(0).astype(np.float32))
        paths = [images] if isinstance(images, (str, os.PathLike)) else list(images)
        if not all(isinstance(one, (str, os.PathLike)) for one in paths):
            raise UsageError("with by, images must be paths of photos or folders")
        found = [file for one in paths for file in (_given_images.images_in(one) if os.path.isdir(one) else [one])]
        groups = engine.group_photos([os.fspath(one) for one in found], _arrays.text(by, "by"), _arrays.number(gap, "gap"))
        return [([os.fspath(one) for one in group], self.classify_series(group)) for group in groups]

    def explain(self, image, class_name=None):
        """Which part of an image makes its answer: each of 7 x 7 patches of the square that the encoder sees is covered in
        turn, in one batch (Zeiler and Fergus 2014).

        Parameters
        ----------
        image : as ``classify`` takes one, but no features
        class_name : the class to explain; left out, the most probable one

        Returns
        -------
        dict: ``class``, its ``probability`` for the whole image, and ``effects`` float64 [7, 7], rows top to bottom: what
        the class's log odds lose when the patch is covered; above 0 the patch is evidence for the class
        """
        if _given_images.is_features(image):
            raise UsageError("explain() covers parts of an image: give the image, not its features")
        given, single = _given_images.images(image)
        if not single:
            raise UsageError("explain() takes one image")
        found = self._core.explain([_given_images.image(given[0])], class_name or "")
        found["effects"] = np.array(found["effects"])
        return found

    def suggest(self, images, count=20):
        """Which unlabelled images to label next, the most useful first; those that are enrolled are left out.

        Parameters
        ----------
        images : as ``classify`` takes several
        count : int

        Returns
        -------
        list of dict: ``row`` (place among the images), ``image``, ``class`` and ``probability`` (the most probable one),
        ``runner_up``, ``doubt`` (1 minus the margin of the two) and ``share`` of the doubt about all images that it covers
        """
        count = _arrays.whole(count, "count", 1)
        if _given_images.is_features(images):
            rows = np.atleast_2d(_arrays.array(images, "features"))
            return self._core.suggest_features(np.ascontiguousarray(rows, np.float32), count)["images"]
        return self._core.suggest(self._read(images, "raise")[0], count)["images"]

    def check_labels(self, *, progress=None):
        """Checks the labels of the enrolled images by leave-one-out.

        Returns
        -------
        dict: ``misplaced`` (images that look like another class, least probable first), ``shared`` (in two classes),
        ``confused`` (pairs of classes), ``classes`` (the accuracy of each, the worst first), ``asked``, ``false_rate``
        """
        return self._core.check_labels(progress)

    def enrol(self, name, images=(), *, attributes=(), descriptions=(), boxes=None, on_error="raise"):
        """Adds images to a class, or makes the class. It is one change, which ``undo`` reverts.

        ``images``, ``boxes``: as ``classify`` takes them; a path may also be that of a folder, whose images and those
        below it are taken, or a pattern ("holiday/*.jpg").

        ``on_error``: as ``classify`` takes it; with "skip", images that cannot be read are skipped and listed in
        ``unreadable``. If none can be read, it is an Error.

        ``descriptions``: one or more texts that describe the class, in place of images or with them; needs
        the ``text_encoder`` that the recognizer was opened or made with.

        Returns a dict: ``classes`` (class, new, added, images), ``unreadable``, ``skipped``.
        """
        said = {"name": _name(name), "attributes": texts_of(attributes, "an attribute"),
                "descriptions": texts_of(descriptions), "text_encoder": None}
        if said["descriptions"]:
            said["text_encoder"] = self._text_core()
        if _given_images.is_features(images):
            rows = np.atleast_2d(_arrays.array(images, "features"))
            return self._core.enrol_features(said, np.ascontiguousarray(rows, np.float32))
        read, reading, _ = self._read(images if boxes is None else _boxes.crops(images, boxes), on_error)
        done = self._core.enrol(said, read)
        done["unreadable"] += reading.unreadable
        return done

    def _read(self, images, on_error):
        """What is kept of images, with the Reading and their places."""
        read, places = engine.ReadImages(), []
        reading = _given_images.Reading(_given_images.several(images), self._core.read, on_error)
        for found, where in reading:
            read.add(found)
            places += where
        if reading.unreadable and not places:
            raise Error(f"none of the images can be read: {reading.unreadable[0]}")
        return read, reading, places

    def _text_core(self):
        if self._text_encoder is None:
            raise UsageError("descriptions need the text encoder that the recognizer was made with: give text_encoder to open()")
        if not isinstance(self._text_encoder, TextEncoder):
            self._text_encoder = TextEncoder(self._text_encoder)
        return self._text_encoder._core

    def enrol_folder(self, folder, attributes=None, *, boxes=None, progress=None):
        """A class for each subfolder; ``attributes``: CSV of theirs; ``boxes``: of the images, as ``create`` takes them. As ``enrol``, and ``expected``: the expected
        accuracy, in a sentence."""
        return self._core.enrol_folder(os.fspath(folder), os.fspath(attributes or ""), _boxes.choice(boxes), progress)

    def add_unlabelled(self, images, *, on_error="raise"):
        """Adds unlabelled images of the classes, which improve accuracy, up to 5,000 of them; not with
        ``fitted`` or ``model``. ``images``, ``on_error``: as ``enrol`` takes them. Returns the number of new ones."""
        if _given_images.is_features(images):
            rows = np.atleast_2d(_arrays.array(images, "features"))
            return self._core.add_unlabelled_features(np.ascontiguousarray(rows, np.float32))
        self._core.check_learns_from_unlabelled()
        return self._core.add_unlabelled(self._read(images, on_error)[0])

    def remove_unlabelled(self):
        """Removes all of them; returns how many there were."""
        return self._core.remove_unlabelled()

    @property
    def unlabelled(self):
        """How many of them there are."""
        return self._core.unlabelled()

    def calibrate(self, others=(), *, similar=False, false_accept=None, on_error="raise", progress=None):
        """Calibrates probabilities and the threshold of "none of these". By default different kinds are refused, and at
        most 5 % of own images. ``similar``: similar kinds too, by held-out classes; as many of them pass
        as own images are refused. ``others``: unknown images (as ``enrol`` takes them, with ``on_error``) or features in
        place of held-out classes. ``false_accept``: the share of them that may pass. Returns a dict."""
        return self._core.calibrate(self._features_of_others(others, on_error), similar, false_accept, progress)

    def _features_of_others(self, others, on_error):
        if _given_images.is_features(others):
            return np.ascontiguousarray(np.atleast_2d(_arrays.array(others, "features")), np.float32)
        reading = _given_images.Reading(_given_images.several(others), self._core.features_of, on_error)
        rows = [found for found, _ in reading]
        if reading.unreadable and not rows:
            raise Error(f"none of the images can be read: {reading.unreadable[0]}")
        return np.concatenate(rows) if rows else None

    @property
    def classes(self):
        """Class -> number of its images."""
        return {one["class"]: one["images"] for one in self._core.classes()}

    @property
    def method(self):
        """Its method."""
        return self._core.method()

    @property
    def calibration(self):
        """The current calibration as a dict, or None."""
        return self._core.calibration()

    def expected_accuracy(self):
        """The expected accuracy on new images (leave-one-out), in a sentence."""
        return self._core.expected_accuracy()

    def test(self, images, labels=None, *, boxes=None, on_error="raise", progress=None):
        """Accuracy on labelled images that are not enrolled; those whose content is enrolled are skipped.

        Parameters
        ----------
        images : the path of a folder with a subfolder for each class, of a list (CSV, JSON) or of a file of features; or with
            ``labels`` images and features as ``classify`` takes them, one after the other
        labels : the right class of each image; classes that it does not have count as unknown
        boxes : of the images of a folder or list, as ``create`` takes them
        on_error : of images with ``labels``, as ``classify`` takes it; "skip" skips them and lists them in ``unreadable``

        Returns
        -------
        TestResult
        """
        if labels is None:
            if not isinstance(images, (str, os.PathLike)):
                raise UsageError("images without labels must be the path of a folder, a list or a file of features")
            return TestResult(self._core.test_at(os.fspath(images), _boxes.choice(boxes), progress))
        if boxes is not None:
            raise UsageError("boxes need the path of a folder or a list; for paths with labels give protocom.crops(...)")
        names = [_name(str(one)) for one in ([labels] if isinstance(labels, str) else labels)]
        if _given_images.is_features(images):
            rows = np.atleast_2d(_arrays.array(images, "features"))
            return TestResult(self._core.test_features(np.ascontiguousarray(rows, np.float32), names))
        read, reading, places = self._read(images, on_error)
        if reading.count != len(names):
            raise Error(f"{len(names)} labels for {reading.count} images")
        return TestResult(self._core.test(read, [names[place] for place in places], places, reading.unreadable))

    def to_onnx(self, path, *, features=False, uint8=False, half=False, int8=False, with_feature=False, page=None, runtime=None):
        """Writes it as it is now as one ONNX file, which runs wherever ONNX does, and beside it NAME.labels.txt (docs/elsewhere.md).

        Parameters
        ----------
        features : without the encoder; the input is its feature, ``features`` float32 [n, d]
        uint8 : the input ``image`` is uint8 [n, h, w, 3] in place of float32 [n, 3, h, w] from 0 to 1
        half : weights are stored as float16, half as large; it computes in float32
        int8 : the encoder's weights are stored as int8, the others as float16; it computes in float32
        with_feature : the encoder's feature is an output too
        page : an HTML file to write too, which classifies photos and the camera's picture in any browser, offline
        runtime : for the page, the folder ``dist`` of the npm package onnxruntime-web
        """
        options = {"features": features, "uint8": uint8, "half": half, "int8": int8, "with_feature": with_feature}
        options.update(page=os.fspath(page or ""), runtime=os.fspath(runtime or ""))
        self._core.export_onnx(os.fspath(path), options)

    def features_of(self, images, *, on_error="raise"):
        """Features of images (as ``enrol`` takes them) by its own encoder: float32 [n, d]. ``on_error``: as
        ``Backbone.extract`` takes it."""
        given = _given_images.several(images)
        return _given_images.features_of_all(given, self._core.features_of, on_error, dim=self._core.feature_dim())

    def rename(self, name, to):
        """Renames a class."""
        self._core.rename(_name(name), _name(to))

    def merge(self, name, into):
        """Moves the images of a class to another one, and removes it."""
        self._core.merge(_name(name), _name(into))

    def remove(self, name):
        """Removes a class."""
        self._core.remove(_name(name))

    def undo(self):
        """Reverts the last change and returns its description."""
        return self._core.undo()

    def redo(self):
        """Repeats the change that ``undo`` reverted last, until there is a new change; returns its description."""
        return self._core.redo()

    def __repr__(self):
        if self._opened is None:
            return f"Recognizer({self._path!r}, closed)"
        classes = self.classes
        return f"Recognizer({self._path!r}, {len(classes)} classes, {sum(classes.values())} images)"

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{count}</td><td>{self._pictures(name)}</td></tr>"
            for name, count in list(self.classes.items())[:50]
        )
        return f"<table><tr><th>class</th><th>images</th><th></th></tr>{rows}</table>"

    def _pictures(self, name, most=5):
        shown = (self._core.thumbnail(one["example"]) for one in self._core.examples(name)[:most])
        return "".join(
            f"<img height='48' src='data:image/jpeg;base64,{base64.b64encode(one).decode()}'>" for one in shown if one
        )
