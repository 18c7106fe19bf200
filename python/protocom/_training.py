"""Training of an encoder, of a completion network, and of both together."""

from . import _arrays
from ._engine import engine
from ._errors import UsageError
from ._features import feature_set
from ._knowledge import knowledge_of
from ._later import html, json

_LEAST = {
    "image_size": 1, "epochs": 1, "batch": 1, "batches": 1, "episodes": 1, "ways": 2, "shots": 1, "queries": 1,
    "validation_episodes": 0,
}


class Training:
    """The result of a training.

    Attributes
    ----------
    path : str, the file with the kept epoch
    model : str, path of the tuned completion model of ``metatrain``, or None
    kept_epoch : int from 1; 0: no epoch of ``metatrain`` was better than the initial state
    epochs : list of dict, an entry per epoch, from the log ``path + ".jsonl"``
    """

    def __init__(self, path, found):
        self.path = _arrays.fspath(path)
        self.model = found.get("model")
        self.kept_epoch = found["kept_epoch"]
        with open(self.path + ".jsonl", encoding="utf-8") as log:
            self.epochs = [json.loads(line) for line in log]

    def to_pandas(self):
        """A DataFrame, a row per epoch; needs pandas."""
        import pandas

        return pandas.json_normalize(self.epochs).set_index("epoch")

    def plot(self, axes=None):
        """The loss of every epoch, and the validation accuracy, if there is one; needs matplotlib. Returns the axes."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots(figsize=(6, 3), layout="constrained")[1]
        axes.plot([one["epoch"] for one in self.epochs], [one["loss"] for one in self.epochs])
        axes.axvline(self.kept_epoch, linestyle=":")
        axes.set_xlabel("epoch")
        axes.set_ylabel("loss")
        return axes

    def _repr_html_(self):
        rows = "".join(f"<tr><td>{one['epoch']}</td><td>{one['loss']:.4g}</td></tr>" for one in self.epochs)
        return f"<p>{html.escape(repr(self))}</p><table><tr><th>epoch</th><th>loss</th></tr>{rows}</table>"

    def __repr__(self):
        return f"Training({self.path!r}, epoch {self.kept_epoch} of {len(self.epochs)} is kept)"


def _options(**given):
    """The options given, checked; the library has the defaults of the others."""
    made = {}
    for name, value in given.items():
        if value is None:
            continue
        if name == "seed":
            value = _arrays.seed(value)
        elif name in _LEAST:
            value = _arrays.whole(value, name, _LEAST[name])
        elif name == "learning_rate":
            value = _rate(value)
        elif name == "split":
            value = _arrays.fspath(value)
        elif name in ("architecture", "device", "head"):
            value = _arrays.text(value, name)
        made[name] = value
    return made


def _rate(value):
    try:
        rate = float(value)
    except (TypeError, ValueError, OverflowError):
        rate = -1.0
    if not 0 < rate < float("inf"):
        raise UsageError(f"learning_rate must be a number above 0, found {_arrays.shown(value)}")
    return rate


def pretrain(images, out, *, architecture=None, split=None, image_size=None, epochs=None, batch=None, learning_rate=None,
             validation_episodes=None, device=None, seed=None, resume=False, on_epoch=None, progress=None):
    """Trains an encoder with a classifier on base classes and writes the encoder of the best epoch to ``out``. Defaults are
    those of ``protocom pretrain --help``. Takes hours on a CPU for a real data set.

    Parameters
    ----------
    images : path, a folder with a subfolder for each class, or a pack of ``protocom pack``
    out : path; log and last state are written beside it
    architecture : "resnet12", "resnet12-wide", "conv4", "resnet18", ...
    split : path of a CSV class,split; None: the folder's own
    resume : bool, continue from the last saved state, if there is one
    on_epoch : callable(dict), called with the log entry of each saved epoch: "epoch", "loss", "accuracy",
        "validation_accuracy", ... An exception it raises ends the training and is re-raised; ``resume=True`` continues.
    progress : callable(what, done, total, detail)

    Returns
    -------
    Training
    """
    options = _options(
        architecture=architecture, split=split, image_size=image_size, epochs=epochs, batch=batch,
        learning_rate=learning_rate, validation_episodes=validation_episodes, device=device, seed=seed,
        resume=bool(resume),
    )
    return Training(out, engine.pretrain(_arrays.fspath(images), _arrays.fspath(out), options, on_epoch, progress))


def complete(features, labels=None, split=None, *, knowledge, out, epochs=None, batches=None, learning_rate=None,
             shots=None, validation_episodes=None, seed=None, resume=False, on_epoch=None, progress=None):
    """Trains a completion network on the base classes (``protocom complete``) and writes the model to ``out``.

    Parameters
    ----------
    features, labels, split : as FeatureSet takes them
    knowledge : as Classifier takes it
    shots : int, images averaged into each prototype to complete
    resume, on_epoch, progress : as ``pretrain`` takes them

    Returns
    -------
    Training
    """
    options = _options(
        epochs=epochs, batches=batches, learning_rate=learning_rate, shots=shots,
        validation_episodes=validation_episodes, seed=seed, resume=bool(resume),
    )
    given = feature_set(features, labels, split)._core
    return Training(
        out, engine.complete(given, knowledge_of(knowledge), _arrays.fspath(out), options, on_epoch, progress)
    )


def metatrain(images, out, *, backbone, model=None, knowledge=None, head=None, split=None, ways=None, shots=None,
              queries=None, epochs=None, batches=None, episodes=None, learning_rate=None, validation_episodes=None,
              device=None, seed=None, resume=False, on_epoch=None, progress=None):
    """Tunes encoder and completion network together on episodes (``protocom metatrain``). Writes the encoder to ``out``, the
    completion model to ``out`` + ".model.npz".

    Parameters
    ----------
    images, split : as ``pretrain`` takes them
    backbone : path of an encoder of ``pretrain``
    model, knowledge : path of a model of ``complete``, and the knowledge it was trained with; not for ``head="mean"``
    head : the method whose loss is minimised, "gauss-fusion" or "mean"
    resume, on_epoch, progress : as ``pretrain`` takes them

    Returns
    -------
    Training
    """
    options = _options(
        head=head, split=split, ways=ways, shots=shots, queries=queries, epochs=epochs, batches=batches,
        episodes=episodes, learning_rate=learning_rate, validation_episodes=validation_episodes, device=device,
        seed=seed, resume=bool(resume),
    )
    found = engine.metatrain(
        _arrays.fspath(images), _arrays.fspath(backbone), None if model is None else _arrays.fspath(model), knowledge_of(knowledge),
        _arrays.fspath(out), options, on_epoch, progress,
    )
    return Training(out, found)
