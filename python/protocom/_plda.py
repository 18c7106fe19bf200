"""The default method."""
from . import _sklearn
from ._classifier import Classifier
from ._methods import choices_of
from ._recipe import Recipe


class PLDA(Classifier):
    """A Bayesian Gaussian model of the classes (docs/methods/plda.md), learned from labelled features.

    Parameters
    ----------
    fitted : Fitted or path, optional
        Fitted on base classes of the same kind as these; improves accuracy, most with one image per class.
    space : Fitted or path, optional
        Fitted on any other classes with the same encoder; its space is adapted to these.
    knowledge : Knowledge, path or dict, optional
        Knowledge of the classes; needs ``fitted`` with knowledge of the same kind, or ``prior="text"``.
    transductive : bool
        Whether the queries of a call are classified together (``plda-vb``).
    prior : str
        "fitted"; "none" ignores knowledge; "text" uses text vectors of the image encoder's own text encoder, without
        fitting. When fitting, also "kernel-ridge" or "sem-align".
    proportions : str
        Class proportions among the queries, if transductive: "estimate" or "balanced".
    scale : float, optional
        Factor of the scores in the softmax; None or 0: the calibrated one.

    Notes
    -----
    If X has fewer than 16 columns (a table rather than features of an encoder) and only labelled images are given, a constant
    column is added, the root mean square length of the rows. Otherwise scaling to unit length would lose their length.

    Examples
    --------
    >>> import numpy, protocom
    >>> X = numpy.array([[0, 1, 2], [0, 1, 3], [2, 1, 0], [3, 1, 0]], numpy.float32)
    >>> protocom.PLDA().fit(X, ["up", "up", "down", "down"]).predict(X[:1])
    array(['up'], dtype='<U4')
    """

    def __init__(self, *, fitted=None, space=None, knowledge=None, transductive=False, prior="fitted",
                 proportions="estimate", scale=None):
        self.fitted = fitted
        self.space = space
        self.knowledge = knowledge
        self.transductive = transductive
        self.prior = prior
        self.proportions = proportions
        self.scale = scale

    def _recipe_now(self):
        _sklearn.check_flag(self, "transductive")
        if type(self.prior) is not str or self.prior != "fitted":  # the list takes a moment when it is first asked for
            _sklearn.check_choice(self, "prior", choices_of(self._name(), "prior"))
        _sklearn.check_choice(self, "proportions", ["estimate", "balanced"])
        _sklearn.check_scale(self, "scale")
        return Recipe(self._text(), fitted=self.fitted, space=self.space, knowledge=self.knowledge)

    def _name(self):
        return "plda-vb" if self.transductive else "plda"

    def _text(self):
        text = self._name()
        if self.prior != "fitted":
            text += f":prior={self.prior}"
        if self.transductive and self.proportions != "estimate":
            text += f":proportions={self.proportions}"
        if self.scale:
            text += f":scale={float(self.scale):.17g}"
        return text
