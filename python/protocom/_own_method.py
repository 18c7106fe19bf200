"""Methods written in Python."""
from . import _arrays
from ._engine import engine
from ._errors import Error, UsageError

_TOGETHER = 64  # episodes of one call of a batched method


class OwnMethod:
    """Your own method for ``evaluate``, with its name and properties.

    Parameters
    ----------
    method : callable, or a class whose instances (made without arguments) are callable
        ``method(support, labels, query)``: float32 [s, d], int64 [s] in [0, n), float32 [q, d] -> labels [q] or scores
        [q, n] (the highest wins), as an array or tensor. If it has ``fit(base)``, this is called first with ``(X, y)`` of
        the base classes.
    name : str, optional; default: the name of the function or class
    batched : bool or int; True: takes several episodes of one shape, [b, s, d], [b, s], [b, q, d]; int: at most that many;
        default: the method's attribute ``batched``, or False
    transductive : bool; whether the answer for a query may depend on the other queries; default: the method's attribute
        ``transductive``, or False
    """

    def __init__(self, method, name=None, *, batched=None, transductive=None):
        if not callable(method):
            raise UsageError(
                f"a method must be a str or a callable (support, labels, query), found {type(method).__name__}"
            )
        self._given = method
        self.name = _checked_name(name if name is not None else _name_of(method))
        self.batched = getattr(method, "batched", False) if batched is None else batched
        self.transductive = bool(getattr(method, "transductive", False) if transductive is None else transductive)

    @property
    def mode(self):
        """"inductive" or "transductive"."""
        return "transductive" if self.transductive else "inductive"

    @property
    def together(self):
        """Most episodes per call; 0: one, without a batch axis."""
        return _TOGETHER if self.batched is True else _arrays.whole(int(self.batched), "batched", 0)

    def __repr__(self):
        return f"OwnMethod({self.name!r}, {self.mode})"

    def _ready(self, features):
        """The callable, made and fitted on the base classes."""
        made = self._called("cannot be made", self._given) if isinstance(self._given, type) else self._given
        if not callable(made):
            raise UsageError(f"'{self.name}' must be callable: a class needs __call__(self, support, labels, query)")
        if hasattr(made, "fit"):
            base = features.of("base")
            if not len(base[0]):
                raise Error(f"'{self.name}' needs base classes for fit(base), and the features have none: mark them in split")
            self._called("failed in fit", made.fit, base)
        return made

    def _called(self, what, function, *given):
        try:
            return function(*given)
        except Exception as error:
            raise Error(f"'{self.name}' {what}: {in_one_line(error)}") from error


def own(method):
    """An OwnMethod for a function, class or OwnMethod given to ``evaluate``."""
    return method if isinstance(method, OwnMethod) else OwnMethod(method)


def _name_of(method):
    name = getattr(method, "name", None)
    if not isinstance(name, str):
        name = getattr(method, "__name__", None) or type(method).__name__
    if name in ("<lambda>", "partial"):
        raise UsageError("a lambda and a partial have no name: give one by protocom.OwnMethod(method, name=...)")
    return name


def _checked_name(name):
    name = _arrays.text(name, "name")
    if not name.strip() or not name.isprintable() or ":" in name:
        raise UsageError(f"a method's name must be a line of text without ':', found {_arrays.shown(name)}")
    if any(one["name"] == name for one in engine.methods()):
        raise UsageError(f"'{name}' is a method of the library: give yours another name=")
    return name


def in_one_line(error):
    """An exception as quoted in messages."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
