"""Recognizers of images, each in one file."""
import os
import unicodedata
from collections.abc import Mapping

from . import _arrays, _asking, _boxes, _changing
from ._class_names import class_name
from ._encoders import TextEncoder
from ._engine import engine
from ._errors import Error, UsageError
from ._later import base64, html
from ._parquet_photos import as_list
from ._words import in_python


def _checked_options(method="", together=False, top=5, nearest=3, attributes=0, shares=None, device="auto", coverage=None, roll_up=None, groups=None):
    """Options of ``open`` as the library takes them; raises UsageError and, for an unknown one, TypeError."""
    return {
        "method": _arrays.text(method, "method"), "together": together, "top": _arrays.whole(top, "top", 1),
        "nearest": _arrays.whole(nearest, "nearest", 0), "attributes": _arrays.whole(attributes, "attributes", 0),
        "shares": {class_name(one): _arrays.number(share, "a share") for one, share in dict(shares or {}).items()},
        "device": _arrays.text(device, "device"), "coverage": None if coverage is None else _arrays.number(coverage, "coverage"),
        "roll_up": None if roll_up is None else _arrays.number(roll_up, "roll_up"), "groups": _checked_groups(groups, roll_up),
    }


def _checked_groups(groups, roll_up):
    if groups is None or groups == {}:
        return {}
    if roll_up is None:
        raise UsageError("groups are for roll_up: pass both")
    if not isinstance(groups, Mapping):
        return engine.read_class_groups(_arrays.fspath(groups))
    return {class_name(one): _arrays.text(group, "a group") for one, group in groups.items()}


def _opened_again(path, options, text_encoder):
    return Recognizer(path, **options, text_encoder=text_encoder)


class Recognizer:
    """Classifies images; one file holds its encoder, classes and method. May be used from several threads.

    Examples
    --------
    ::

        mine = protocom.Recognizer.create("mine.pcm", images="my-photos")
        mine.classify("holiday/1.jpg").name
    """

    def __init__(self, path, *, method="", together=False, top=5, nearest=3, attributes=0, shares=None, device="auto",
                 text_encoder=None, coverage=None, roll_up=None, groups=None):
        self._path = _arrays.fspath(path)
        self._text_encoder = text_encoder
        self._options = _checked_options(method, together, top, nearest, attributes, shares, device, coverage, roll_up, groups)
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
        """Number of classes."""
        return len(self._core.classes())

    def __bool__(self):
        return True  # even without classes

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
        method : str, replaces the recognizer's own
        together : bool, whether the images of a call are classified together (transductive)
        top, nearest, attributes : int, numbers of classes, similar images and attributes in an answer
        coverage : float, probability (such as 0.9) with which ``Answer.set`` contains the right class of a new image, by
            leave-one-out
        roll_up : float, if the first class is less probable than this (0.9), ``Answer.group`` is the smallest group of
            classes that contains it and is as probable
        groups : dict of the groups of classes, for ``roll_up``, from the widest on ({"robin": "animals/birds"}), or a CSV
            with the columns class and group or taxonomy; default: the levels of titles or names ("animals/birds/robin")
        shares : dict, known class proportions among the images of a call, which are then classified together
        device : "auto", "cpu", "cuda"
        text_encoder : TextEncoder or its folder, the one that the file was made with, to describe classes in words
        """
        return cls(path, **options)

    @classmethod
    def create(cls, path, *, backbone="", images=None, boxes=None, question="", annotator="", classes_from="", attributes=None,
               fitted="", space="", model="", knowledge="", text_encoder=None, unlabelled=(), preprocess="", output="",
               thumbnails=True, half_features=False, moments="auto", external_backbone=False, **options):
        """Makes a file, and enrols a class for each subfolder of ``images``.

        Parameters
        ----------
        backbone : path of an encoder, or name of an installed one (``protocom encoders``); default: the default encoder
        images : folder with a subfolder of images for each class, a CSV image,class, or Parquet of photos (paths, bytes or
            Hugging Face's ``image``) with a ``label``, optional
        boxes : boxes of these images, each treated as a separate image: path of a file or folder of boxes, or Boxes
        question, annotator : of a list of Label Studio, the question whose answers are the classes, and whose answers count
            if annotators disagree: an annotator's number or address, or "majority"
        classes_from : "keywords": the photos' keywords are the classes; "keywords:2": their second level;
            "keywords:Animals|Birds": the level below; default: folders or a list
        attributes : CSV class,attribute of these classes, optional
        fitted, space, model, knowledge : paths, as ``protocom recognizer create`` takes them
        text_encoder : the backbone's own text encoder or its folder (CLIP, SigLIP): class names are used besides the
            images, and ``enrol`` takes descriptions
        unlabelled : folder, or paths of images or folders: unlabelled images of the classes, which improve accuracy; at
            most 5,000 are used; not with ``fitted`` or ``model``
        preprocess, output : as ``Backbone`` takes them
        thumbnails : bool, store small JPEGs of the images
        half_features : bool, store features as float16: half the space, rounded
        moments : "auto" or True: images of one moment (frames of a burst or a video, copies), found by similarity or because they were
            taken within two seconds of each other or are in one subfolder of a class such as visit1, count as one; "off" or False: each
            counts; "folder": those in one subfolder of a class; "visits.csv:visit", or "visit" if ``images`` has a table: this column names
            the moments
        external_backbone : bool, do not store the encoder: it is found by its hash, beside the file or at its path
        options : as ``open`` takes them
        """
        _checked_options(**options)  # before anything is embedded
        paths = {"backbone": backbone or "", "fitted": fitted, "space": space, "model": model, "knowledge": knowledge,
                 "text_encoder": getattr(text_encoder, "_folder", text_encoder) or "", "images": images or "", "attributes": attributes or ""}
        given = {name: _arrays.fspath(one) for name, one in paths.items()}
        if isinstance(moments, bool):
            moments = "auto" if moments else "off"
        given.update(preprocess=preprocess, output=output, thumbnails=thumbnails, half_features=half_features, moments=_arrays.text(moments, "moments"),
                     external_backbone=external_backbone, boxes=_boxes.choice(boxes),
                     lists=_arrays.texts(question=question, annotator=annotator, classes_from=classes_from),
                     unlabelled=_boxes._paths(unlabelled), device=options.get("device", "auto"))
        made = os.path.realpath(_arrays.fspath(path))
        if os.path.exists(made) and not os.path.isdir(made) and not os.path.isfile(made):  # it would be written to, and removed
            raise Error(f"cannot write {path}: it is a device or a pipe, expected a file name")
        with as_list(given["images"]) as given["images"]:
            engine.create_recognizer(_arrays.fspath(path), given)
        try:
            return cls(path, text_encoder=text_encoder, **options)
        except BaseException:
            os.unlink(made)
            raise

    def _text_core(self):
        if self._text_encoder is None:
            raise UsageError("descriptions need the text encoder that the recognizer was made with: give text_encoder to open()")
        if not isinstance(self._text_encoder, TextEncoder):
            self._text_encoder = TextEncoder(self._text_encoder)
        return self._text_encoder._core

    @property
    def unlabelled(self):
        """Number of unlabelled images that it uses."""
        return self._core.unlabelled()

    classify = _asking.classify
    classify_series = _asking.classify_series
    explain = _asking.explain
    suggest = _asking.suggest
    check_labels = _asking.check_labels
    examples = _asking.examples
    features_of = _asking.features_of
    test = _asking.test

    enrol = _changing.enrol
    enrol_folder = _changing.enrol_folder
    add_unlabelled = _changing.add_unlabelled
    remove_unlabelled = _changing.remove_unlabelled
    calibrate = _changing.calibrate
    rename = _changing.rename
    merge = _changing.merge
    remove = _changing.remove
    remove_examples = _changing.remove_examples
    move_examples = _changing.move_examples
    confirm_examples = _changing.confirm_examples
    undo = _changing.undo
    redo = _changing.redo

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

    def to_onnx(self, path, *, features=False, uint8=False, half=False, int8=False, with_feature=False, external_data=False, page=None,
                runtime=None, images=None, progress=None):
        """Writes its current state as one ONNX file for other programs, and beside it NAME.labels.txt (docs/elsewhere.md).

        Parameters
        ----------
        features : bool, leave the encoder out; the input is its feature, ``features`` float32 [n, d]
        uint8 : bool, the input ``image`` is uint8 [n, h, w, 3] in place of float32 [n, 3, h, w] from 0 to 1
        half : bool, store weights as float16, half the size; computes in float32
        int8 : bool, store the encoder's weights as int8, the others as float16; computes in float32
        with_feature : bool, add the encoder's feature as an output
        external_data : bool, store weights in a file beside it, ``path``.HASH.data (ONNX's external data); always so above 2 GB
        page : path of an HTML file to write, which classifies photos and camera images in any browser, offline
        runtime : for the page, the folder ``dist`` of the npm package onnxruntime-web
        images : folder (or paths) of the recognizer's photos, to measure ``half`` and ``int8``; default: where they were
            enrolled from

        Returns
        -------
        dict: ``model``, ``labels``, ``data`` and ``page`` (paths; None: not written), ``input``, ``outputs``, ``bytes`` (of
        the ONNX file), ``classes`` (int), and ``measured``: a dict of what ``half`` or ``int8`` change, None without them and
        with ``features``. It has ``bytes_float32``, the size of the file with float32; ``milliseconds_float32`` and
        ``milliseconds``, the times per photo of that file and this one by ``engine``; ``accuracy_float32`` and ``accuracy``,
        their leave-one-out accuracies on ``photos`` photos, at most 500 (None: no photo was found); ``changed``, how many of
        these have another answer; and ``sentence``, which says all this
        """
        options = {"features": features, "uint8": uint8, "half": half, "int8": int8, "with_feature": with_feature, "external_data": external_data}
        options.update(page=_arrays.fspath(page or ""), runtime=_arrays.fspath(runtime or ""))
        made = self._core.export_onnx(_arrays.fspath(path), options, _boxes._paths(() if images is None else images), progress)
        if made["measured"] is not None:
            made["measured"]["sentence"] = in_python(made["measured"]["sentence"])
        return made

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
