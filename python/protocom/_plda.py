"""The default method by a class of its own."""
from . import _sklearn
from ._classifier import Classifier
from ._methods import choices_of
from ._recipe import Recipe


class PLDA(Classifier):
    """The Bayesian model of classes (docs/methods/plda.md): needs nothing but labelled features of the classes.

    Parameters
    ----------
    fitted : Fitted or path, optional
        Fitted on base classes like these: better, most of all with one image per class.
    space : Fitted or path, optional
        Fitted on any other classes with the same encoder; adapts to these.
    knowledge : Knowledge, path or dict, optional
        Attributes of the classes, where ``fitted`` knows of attributes.
    transductive : bool
        Queries of one call help one another (``plda-vb``).
    prior : str
        "fitted", or "none" to leave knowledge out.
    proportions : str
        Of the classes among the queries, where transductive: "estimate" or "balanced".
    scale : float, optional
        Of the scores in the softmax; None or 0: the one that makes probabilities right.

    Notes
    -----
    X of fewer than 16 columns (tables rather than encoders' features) gets one more column with the rows' root mean square length, if
    nothing but labelled images is given: at unit length, rows would lose how long they are.

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
