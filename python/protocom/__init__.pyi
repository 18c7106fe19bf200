from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, BinaryIO, Literal, Optional, Protocol, TypeVar, TypedDict, Union, overload

import numpy as np
from matplotlib.axes import Axes
from pandas import DataFrame
from numpy.typing import ArrayLike, NDArray

from . import easyfsl as easyfsl

__version__: str
__all__ = [
    "PLDA", "Answer", "Backbone", "Boxes", "Classifier", "Crop", "Episodes", "Error", "FeatureSet", "Fitted", "Knowledge", "OwnMethod",
    "Recognizer", "Results", "TestResult", "TextEncoder", "Training", "UsageError", "complete", "crops", "describe", "easyfsl",
    "episodes", "evaluate", "fit", "images_in",
    "make", "metatrain", "methods", "pretrain", "set_engine", "set_threads", "threads",
]

_Path = Union[str, PathLike[str]]
_Floats = NDArray[np.float32]
_Progress = Callable[[str, int, int, str], object]
_OnEpoch = Callable[[dict[str, Any]], object]
_Known = Union[Sequence[str], Mapping[str, float], Sequence[float], NDArray[Any]]
_Knowledge = Union["Knowledge", _Path, Mapping[str, _Known]]
_RandomState = Union[None, int, np.random.RandomState, np.random.Generator]
_Fitted = Union["Fitted", _Path]
_Split = Union[str, Mapping[Any, str], Sequence[str]]
_Self = TypeVar("_Self", bound="Classifier")

class _Picture(Protocol):  # of PIL
    def convert(self, mode: str) -> Any: ...

_Bytes = Union[bytes, bytearray, memoryview, BinaryIO]
_OneImage = Union[_Path, _Bytes, NDArray[Any], _Picture]
_Images = Union[_OneImage, Iterable[_OneImage]]
_OnError = Literal["raise", "skip"]

class _ParameterName(TypedDict):
    name: str

class _Parameter(_ParameterName, total=False):
    text: str
    default: Union[str, int, float, bool]
    choices: list[str]
    low: float
    high: float
    when_fitted: bool

class _Spec(TypedDict):
    name: str
    about: str
    mode: Literal["inductive", "transductive"]
    assumes_balanced_queries: bool
    citation: str
    trained_by_torch: bool
    notes: str
    needs: list[str]
    optional: list[str]
    parameters: list[_Parameter]

class _Episode(TypedDict):
    classes: list[int]
    support: list[list[int]]
    query: list[list[int]]
    pool: list[list[int]]

class _Row(TypedDict):
    task: str
    method: str
    accuracy: float
    ci95: float
    gain: Optional[float]
    gain_ci95: Optional[float]
    mode: str

class _Comparison(TypedDict):
    task: str
    method: str
    baseline: str
    episodes: int
    difference: float
    ci95: float
    better: float
    worse: float

_EnrolledClass = TypedDict("_EnrolledClass", {"class": str, "is_new": bool, "added": int, "images": int})

class _Enrolment(TypedDict):
    classes: list[_EnrolledClass]
    unreadable: list[str]
    skipped: str

class _FolderEnrolment(_Enrolment):
    expected: str

_Example = TypedDict("_Example", {"example": int, "class": str, "source": str, "time": int, "hash": str, "confirmed": bool})
_Nearest = TypedDict("_Nearest", {"example": int, "class": str, "source": str, "similarity": float})

class _AttributeEffect(TypedDict):
    attribute: str
    words: str
    effect: float

class _Exchange(TypedDict):
    false_accept: float
    accepted: float
    threshold: float

class _Calibration(TypedDict):
    method: str
    factor: float
    threshold: float
    false_accept: float
    accepted: float
    accuracy: float
    images: int
    unknown: int
    classes: int
    names: str
    slope: float
    balanced: bool
    similar: bool
    of_others: bool
    class_ids: str
    exchange: list[_Exchange]

_TestedClass = TypedDict(
    "_TestedClass", {"class": str, "images": int, "right": int, "refused": int, "confused": int, "confused_with": Optional[str]}
)
_Confusion = TypedDict("_Confusion", {"class": str, "answer": str, "images": int})
_UnknownClass = TypedDict("_UnknownClass", {"class": str, "images": int, "accepted": int})
_TestedImage = TypedDict(
    "_TestedImage",
    {"image": str, "class": str, "known": bool, "answer": str, "certainty": float, "none": Optional[float],
     "none_of_these": Optional[bool], "rank": Optional[int], "log_loss": Optional[float], "right": bool},
)

class _Bin(TypedDict):
    low: float
    high: float
    images: int
    certainty: float
    accuracy: float

class _TestComparison(TypedDict):
    images: int
    first_only: int
    second_only: int
    difference: float
    low: float
    high: float
    p_value: float
    differing: list[int]
    sentence: str

_Suggestion = TypedDict(
    "_Suggestion", {"row": int, "image": str, "class": str, "probability": float, "runner_up": str, "doubt": float, "share": float}
)
_Explanation = TypedDict("_Explanation", {"class": str, "probability": float, "effects": NDArray[np.float64]})
_Misplaced = TypedDict(
    "_Misplaced", {"example": int, "source": str, "class": str, "probability": float, "likelier": str, "likelier_probability": float}
)
_SharedImage = TypedDict(
    "_SharedImage", {"example": int, "class": str, "twin": int, "twin_class": str, "source": str, "twin_source": str, "copy": bool}
)
_LeftOutClass = TypedDict("_LeftOutClass", {"class": str, "asked": int, "right": int, "probability": float})

class _ConfusedClasses(TypedDict):
    first: str
    second: str
    asked: int
    mistaken: int
    same: bool

class _LabelCheck(TypedDict):
    asked: int
    false_rate: float
    misplaced: list[_Misplaced]
    confused: list[_ConfusedClasses]
    shared: list[_SharedImage]
    classes: list[_LeftOutClass]

class _Measured(TypedDict):
    bytes_float32: int
    milliseconds_float32: float
    milliseconds: float
    engine: str
    photos: int
    accuracy_float32: Optional[float]
    accuracy: Optional[float]
    changed: int
    sentence: str

class _OnnxExport(TypedDict):
    model: str
    labels: str
    data: Optional[str]
    page: Optional[str]
    input: str
    outputs: str
    bytes: int
    classes: int
    measured: Optional[_Measured]

class Error(ValueError):
    index: Optional[int]
    path: Optional[str]

class UsageError(Error): ...

class Knowledge:
    def __init__(self, source: Union[_Path, Mapping[str, _Known]]) -> None: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def attributes(self) -> list[str]: ...
    @property
    def association(self) -> _Floats: ...

class Fitted:
    def __init__(self, path: _Path) -> None: ...
    @property
    def method(self) -> str: ...
    @property
    def n_features(self) -> int: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def findings(self) -> list[str]: ...
    def save(self, path: _Path) -> None: ...
    def as_space(self) -> Fitted: ...

class Classifier:
    method: str
    fitted: Union[None, _Fitted, Sequence[_Fitted]]
    space: Optional[_Fitted]
    knowledge: Optional[_Knowledge]
    model: Optional[_Path]
    base: Optional[tuple[ArrayLike, ArrayLike]]
    seed: int
    random_state: _RandomState
    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    @property
    def method_(self) -> str: ...
    def __init__(
        self,
        method: str = "plda",
        *,
        fitted: Union[None, _Fitted, Sequence[_Fitted]] = None,
        space: Optional[_Fitted] = None,
        knowledge: Optional[_Knowledge] = None,
        model: Optional[_Path] = None,
        base: Optional[tuple[ArrayLike, ArrayLike]] = None,
        seed: int = 0,
        random_state: _RandomState = None,
    ) -> None: ...
    def fit(
        self: _Self,
        X: ArrayLike,
        y: Optional[ArrayLike] = None,
        sample_weight: Optional[ArrayLike] = None,
        *,
        classes: Optional[ArrayLike] = None,
    ) -> _Self: ...
    def partial_fit(
        self: _Self,
        X: ArrayLike,
        y: Optional[ArrayLike] = None,
        sample_weight: Optional[ArrayLike] = None,
        *,
        classes: Optional[ArrayLike] = None,
    ) -> _Self: ...
    def predict_proba(self, X: ArrayLike) -> _Floats: ...
    def predict_log_proba(self, X: ArrayLike) -> _Floats: ...
    def predict(self, X: ArrayLike) -> NDArray[Any]: ...
    def logits(self, X: ArrayLike) -> _Floats: ...
    def decision_function(self, X: ArrayLike) -> _Floats: ...
    def familiarity(self, X: ArrayLike) -> _Floats: ...
    def score_samples(self, X: ArrayLike) -> _Floats: ...
    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: Optional[ArrayLike] = None) -> float: ...
    def predict_proba_batch(
        self, support: ArrayLike, query: ArrayLike, support_mask: Optional[ArrayLike] = None, seeds: Iterable[int] = ()
    ) -> _Floats: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self: _Self, **parameters: Any) -> _Self: ...
    def get_metadata_routing(self) -> Any: ...
    def set_fit_request(self: _Self, *, classes: Union[None, bool, str] = "$UNCHANGED$", sample_weight: Union[None, bool, str] = "$UNCHANGED$") -> _Self: ...
    def set_partial_fit_request(self: _Self, *, classes: Union[None, bool, str] = "$UNCHANGED$", sample_weight: Union[None, bool, str] = "$UNCHANGED$") -> _Self: ...
    def set_score_request(self: _Self, *, sample_weight: Union[None, bool, str] = "$UNCHANGED$") -> _Self: ...
    def __sklearn_is_fitted__(self) -> bool: ...
    def __sklearn_tags__(self) -> Any: ...

class PLDA(Classifier):
    transductive: bool
    prior: str
    proportions: str
    scale: Optional[float]
    def __init__(
        self,
        *,
        fitted: Optional[_Fitted] = None,
        space: Optional[_Fitted] = None,
        knowledge: Optional[_Knowledge] = None,
        transductive: bool = False,
        prior: str = "fitted",
        proportions: str = "estimate",
        scale: Optional[float] = None,
    ) -> None: ...

class FeatureSet:
    def __init__(
        self,
        features: ArrayLike,
        labels: ArrayLike,
        split: _Split = "novel",
        *,
        names: Optional[Sequence[str]] = None,
        ids: Optional[Sequence[str]] = None,
    ) -> None: ...
    @classmethod
    def read(cls, path: _Path, *, labels: Optional[_Path] = None, split: Optional[_Path] = None) -> FeatureSet: ...
    @classmethod
    def from_parquet(cls, path: _Path) -> FeatureSet: ...
    @classmethod
    def extract(
        cls,
        module: Callable[[Any], Any],
        loader: Iterable[Any],
        split: _Split = "novel",
        *,
        names: Optional[Sequence[str]] = None,
        ids: Optional[Sequence[str]] = None,
    ) -> FeatureSet: ...
    def save(self, path: _Path) -> None: ...
    def to_parquet(self, path: _Path) -> None: ...
    @property
    def features(self) -> _Floats: ...
    @property
    def labels(self) -> NDArray[np.int64]: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def split(self) -> list[str]: ...
    def of(self, split: str) -> tuple[_Floats, NDArray[np.str_]]: ...
    def __len__(self) -> int: ...

_Features = Union[ArrayLike, FeatureSet, _Path]

class Episodes:
    def __init__(self, core: Any, features: FeatureSet) -> None: ...
    @classmethod
    def read(cls, path: _Path, features: Union[FeatureSet, _Path]) -> Episodes: ...
    @classmethod
    def of(cls, features: FeatureSet, support: ArrayLike, query: ArrayLike, pool: Optional[ArrayLike] = None, *, evaluated: str = "novel") -> Episodes: ...
    @classmethod
    def of_sampler(cls, features: FeatureSet, sampler: Iterable[Any], *, evaluated: str = "novel") -> Episodes: ...
    def save(self, path: _Path) -> None: ...
    def arrays(self) -> dict[str, NDArray[np.int64]]: ...
    @property
    def hash(self) -> str: ...
    @property
    def task(self) -> str: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, i: int) -> _Episode: ...
    @overload
    def __getitem__(self, i: slice) -> Episodes: ...
    def __iter__(self) -> Iterator[_Episode]: ...

class OwnMethod:
    name: str
    batched: Union[bool, int]
    transductive: bool
    def __init__(
        self,
        method: Callable[..., Any],
        name: Optional[str] = None,
        *,
        batched: Union[None, bool, int] = None,
        transductive: Optional[bool] = None,
    ) -> None: ...
    @property
    def mode(self) -> str: ...
    @property
    def together(self) -> int: ...

_Method = Union[str, OwnMethod, Callable[..., Any]]

class Results:
    def __init__(self, findings: dict[str, Any]) -> None: ...
    rows: list[_Row]
    findings: dict[str, Any]
    @property
    def table(self) -> str: ...
    @classmethod
    def read(cls, path: _Path) -> Results: ...
    def save(self, path: _Path) -> None: ...
    def label(self, method: _Method) -> str: ...
    def accuracies(self, method: _Method, task: Optional[str] = None) -> NDArray[np.float64]: ...
    def compare(self, method: _Method, baseline: _Method, task: Optional[str] = None) -> list[_Comparison]: ...
    def to_latex(self) -> str: ...
    def to_pandas(self) -> DataFrame: ...
    def plot(self, axes: Optional[Axes] = None) -> Axes: ...

class Backbone:
    def __init__(self, path: _Path, *, preprocess: str = "", output: str = "", device: str = "auto") -> None: ...
    def extract(self, images: _Images, *, on_error: _OnError = "raise", progress: Optional[_Progress] = None) -> _Floats: ...
    @property
    def dim(self) -> int: ...
    @property
    def preprocessing(self) -> str: ...

class Boxes:
    file: str
    min_confidence: float
    kinds: list[str]
    margin: float
    def __init__(
        self, file: _Path, *, min_confidence: float = 0.2, kinds: Union[str, Sequence[str]] = (), margin: float = 0.1
    ) -> None: ...

class Crop(str):
    photo: str
    kind: str
    confidence: float
    def __new__(cls, name: str, photo: str, kind: str, confidence: float) -> Crop: ...

def crops(images: Union[_Path, Iterable[_Path]], boxes: Union[_Path, Boxes]) -> list[Crop]: ...

class TextEncoder:
    def __init__(self, folder: _Path) -> None: ...
    def encode(self, texts: Union[str, Sequence[str]]) -> _Floats: ...
    @property
    def dim(self) -> int: ...
    @property
    def longest(self) -> int: ...
    @property
    def compares_with_images(self) -> bool: ...

class Answer:
    def __init__(self, found: Mapping[str, Any]) -> None: ...
    ranking: list[tuple[str, float]]
    familiarity: float
    none: Optional[float]
    none_of_these: Optional[bool]
    nearest: list[_Nearest]
    nearest_note: str
    attributes: list[_AttributeEffect]
    set: list[str]
    group: Optional[tuple[str, float]]
    box: Optional[Crop]
    @property
    def name(self) -> str: ...
    @property
    def probability(self) -> float: ...

class TestResult:
    recognizer: str
    method: str
    mode: str
    calibrated: bool
    enrolled: int
    images: int
    right: int
    accuracy: float
    low: float
    high: float
    top5: Optional[float]
    certainty: float
    expected_error: float
    log_loss: float
    refused: int
    kept_right: int
    unknown: int
    accepted: int
    classes: list[_TestedClass]
    confusion: list[_Confusion]
    bins: list[_Bin]
    unknown_classes: list[_UnknownClass]
    tested: list[_TestedImage]
    worst: list[int]
    already_enrolled: int
    unlabelled: int
    unshared: int
    skipped: str
    unreadable: list[str]
    def __init__(self, core: Any) -> None: ...
    def to_dict(self) -> dict[str, Any]: ...
    def compare(self, other: TestResult) -> _TestComparison: ...
    def to_csv(self, path: _Path, other: Optional[TestResult] = None) -> None: ...
    def to_html(self, path: _Path, other: Optional[TestResult] = None, *, worst: int = 24) -> None: ...

class Recognizer:
    def __init__(
        self,
        path: _Path,
        *,
        method: str = "",
        together: bool = False,
        top: int = 5,
        nearest: int = 3,
        attributes: int = 0,
        shares: Optional[Mapping[str, float]] = None,
        device: str = "auto",
        text_encoder: Union[TextEncoder, _Path, None] = None,
        coverage: Optional[float] = None,
        roll_up: Optional[float] = None,
        groups: Union[Mapping[str, str], _Path, None] = None,
    ) -> None: ...
    @classmethod
    def open(
        cls,
        path: _Path,
        *,
        method: str = "",
        together: bool = False,
        top: int = 5,
        nearest: int = 3,
        attributes: int = 0,
        shares: Optional[Mapping[str, float]] = None,
        device: str = "auto",
        text_encoder: Union[TextEncoder, _Path, None] = None,
        coverage: Optional[float] = None,
        roll_up: Optional[float] = None,
        groups: Union[Mapping[str, str], _Path, None] = None,
    ) -> Recognizer: ...
    @classmethod
    def create(
        cls,
        path: _Path,
        *,
        backbone: _Path = "",
        images: Optional[_Path] = None,
        boxes: Optional[Union[_Path, Boxes]] = None,
        question: str = "",
        annotator: str = "",
        classes_from: str = "",
        attributes: Optional[_Path] = None,
        fitted: _Path = "",
        space: _Path = "",
        model: _Path = "",
        knowledge: _Path = "",
        text_encoder: Union[TextEncoder, _Path, None] = None,
        unlabelled: Union[_Path, Sequence[_Path]] = (),
        preprocess: str = "",
        output: str = "",
        thumbnails: bool = True,
        half_features: bool = False,
        moments: Union[bool, str] = "auto",
        external_backbone: bool = False,
        **options: Any,
    ) -> Recognizer: ...
    @overload
    def classify(self, images: Union[_Path, _Bytes, _Picture], *, on_error: Literal["raise"] = "raise", boxes: None = None) -> Answer: ...  # type: ignore[overload-overlap]  # a str is an Iterable[str], an array one of arrays
    @overload
    def classify(
        self, images: Union[_Path, Iterable[_Path]], *, on_error: _OnError = "raise", boxes: Union[_Path, Boxes]
    ) -> list[Optional[Answer]]: ...
    @overload
    def classify(self, images: Union[_Path, _Bytes, _Picture], *, on_error: Literal["skip"], boxes: None = None) -> Optional[Answer]: ...  # type: ignore[overload-overlap]  # a str is an Iterable[str], an array one of arrays
    @overload
    def classify(self, images: NDArray[Any], *, on_error: _OnError = "raise", boxes: None = None) -> Union[Answer, list[Answer]]: ...  # type: ignore[overload-overlap]  # a str is an Iterable[str], an array one of arrays
    @overload
    def classify(self, images: Iterable[_OneImage], *, on_error: Literal["raise"] = "raise", boxes: None = None) -> list[Answer]: ...
    @overload
    def classify(self, images: Iterable[_OneImage], *, on_error: Literal["skip"], boxes: None = None) -> list[Optional[Answer]]: ...
    @overload
    def classify_series(
        self, images: Any, *, by: None = None, gap: float = 60.0, on_error: Literal["raise"] = "raise", boxes: Optional[Union[_Path, Boxes]] = None
    ) -> Answer: ...
    @overload
    def classify_series(
        self, images: Any, *, by: None = None, gap: float = 60.0, on_error: Literal["skip"], boxes: Optional[Union[_Path, Boxes]] = None
    ) -> Optional[Answer]: ...
    @overload
    def classify_series(
        self,
        images: Union[_Path, Iterable[_Path]],
        *,
        by: str,
        gap: float = 60.0,
        on_error: Literal["raise"] = "raise",
        boxes: Optional[Union[_Path, Boxes]] = None,
    ) -> list[tuple[list[str], Answer]]: ...
    @overload
    def classify_series(
        self, images: Union[_Path, Iterable[_Path]], *, by: str, gap: float = 60.0, on_error: Literal["skip"], boxes: Optional[Union[_Path, Boxes]] = None
    ) -> list[tuple[list[str], Optional[Answer]]]: ...
    def explain(self, image: _OneImage, class_name: Optional[str] = None) -> _Explanation: ...
    def suggest(self, images: _Images, count: int = 20, *, on_error: _OnError = "raise") -> list[_Suggestion]: ...
    def check_labels(self, *, progress: Optional[_Progress] = None) -> _LabelCheck: ...
    def close(self) -> None: ...
    def __enter__(self) -> Recognizer: ...
    def __exit__(self, *raised: Any) -> None: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, name: object) -> bool: ...
    def enrol(
        self,
        name: str,
        images: _Images = (),
        *,
        attributes: Sequence[str] = (),
        descriptions: Union[str, Sequence[str]] = (),
        boxes: Optional[Union[_Path, Boxes]] = None,
        on_error: _OnError = "raise",
    ) -> _Enrolment: ...
    def enrol_folder(
        self,
        folder: _Path,
        attributes: Optional[_Path] = None,
        *,
        boxes: Optional[Union[_Path, Boxes]] = None,
        question: str = "",
        annotator: str = "",
        classes_from: str = "",
        progress: Optional[_Progress] = None,
    ) -> _FolderEnrolment: ...
    def calibrate(
        self, others: _Images = (), *, similar: bool = False, false_accept: Optional[float] = None, on_error: _OnError = "raise",
        progress: Optional[_Progress] = None
    ) -> _Calibration: ...
    @property
    def classes(self) -> dict[str, int]: ...
    @property
    def method(self) -> str: ...
    @property
    def calibration(self) -> Optional[_Calibration]: ...
    def add_unlabelled(self, images: _Images, *, on_error: _OnError = "raise") -> int: ...
    def remove_unlabelled(self) -> int: ...
    @property
    def unlabelled(self) -> int: ...
    def expected_accuracy(self) -> str: ...
    def test(
        self,
        images: _Images,
        labels: Optional[Sequence[str]] = None,
        *,
        boxes: Optional[Union[_Path, Boxes]] = None,
        question: str = "",
        annotator: str = "",
        classes_from: str = "",
        on_error: _OnError = "raise",
        progress: Optional[_Progress] = None,
    ) -> TestResult: ...
    def to_onnx(
        self,
        path: _Path,
        *,
        features: bool = False,
        uint8: bool = False,
        half: bool = False,
        int8: bool = False,
        with_feature: bool = False,
        external_data: bool = False,
        page: Optional[_Path] = None,
        runtime: Optional[_Path] = None,
        images: Union[None, _Path, Sequence[_Path]] = None,
        progress: Optional[_Progress] = None,
    ) -> _OnnxExport: ...
    def features_of(self, images: _Images, *, on_error: _OnError = "raise") -> _Floats: ...
    def rename(self, name: str, to: str) -> None: ...
    def merge(self, name: str, into: str) -> None: ...
    def remove(self, name: str) -> None: ...
    def examples(self, name: str = "") -> list[_Example]: ...
    def remove_examples(self, examples: Iterable[int]) -> None: ...
    def confirm_examples(self, examples: Iterable[int]) -> None: ...
    def move_examples(self, examples: Iterable[int], to: str) -> int: ...
    def undo(self) -> str: ...
    def redo(self) -> str: ...

def methods() -> dict[str, str]: ...
def describe(name: str) -> _Spec: ...
def images_in(path: _Path) -> list[str]: ...
def make(
    method: str,
    *,
    fitted: Union[None, _Fitted, Sequence[_Fitted]] = None,
    space: Optional[_Fitted] = None,
    knowledge: Optional[_Knowledge] = None,
    model: Optional[_Path] = None,
    base: Optional[tuple[ArrayLike, ArrayLike]] = None,
    seed: int = 0,
    random_state: _RandomState = None,
) -> Classifier: ...
def fit(
    method: str = "plda",
    X: Optional[_Features] = None,
    y: Optional[ArrayLike] = None,
    *,
    val: Optional[tuple[ArrayLike, ArrayLike]] = None,
    knowledge: Optional[_Knowledge] = None,
    seed: int = 1,
    progress: Optional[_Progress] = None,
) -> Fitted: ...
def episodes(
    features: _Features,
    labels: Optional[ArrayLike] = None,
    split: Optional[_Split] = None,
    *,
    ways: int = 5,
    shots: Union[int, str] = 1,
    queries: int = 15,
    episodes: int = 600,
    seed: int = 1,
    evaluated: str = "novel",
    unlabelled: int = 0,
    distribution: str = "balanced",
    alpha: float = 2.0,
) -> Episodes: ...
def evaluate(
    features: _Features,
    labels: Optional[ArrayLike] = None,
    split: Optional[_Split] = None,
    methods: Union[None, _Method, Sequence[_Method]] = None,
    *,
    ways: int = 5,
    shots: Union[int, str, Sequence[Union[int, str]]] = (1, 5),
    queries: int = 15,
    episodes: Union[int, Episodes] = 600,
    seed: Union[int, Sequence[int]] = 1,
    evaluated: str = "novel",
    unlabelled: int = 0,
    distribution: str = "balanced",
    alpha: float = 2.0,
    fitted: Union[None, _Fitted, Sequence[_Fitted]] = None,
    space: Optional[_Fitted] = None,
    knowledge: Optional[_Knowledge] = None,
    model: Optional[_Path] = None,
    baseline: _Method = "mean",
    progress: Optional[_Progress] = None,
) -> Results: ...
class Training:
    def __init__(self, path: _Path, found: Mapping[str, Any]) -> None: ...
    path: str
    model: Optional[str]
    kept_epoch: int
    epochs: list[dict[str, Any]]
    def to_pandas(self) -> DataFrame: ...
    def plot(self, axes: Optional[Axes] = None) -> Axes: ...

def pretrain(
    images: _Path,
    out: _Path,
    *,
    architecture: Optional[str] = None,
    split: Optional[_Path] = None,
    image_size: Optional[int] = None,
    epochs: Optional[int] = None,
    batch: Optional[int] = None,
    learning_rate: Optional[float] = None,
    validation_episodes: Optional[int] = None,
    device: Optional[str] = None,
    seed: Optional[int] = None,
    resume: bool = False,
    on_epoch: Optional[_OnEpoch] = None,
    progress: Optional[_Progress] = None,
) -> Training: ...
def complete(
    features: _Features,
    labels: Optional[ArrayLike] = None,
    split: Optional[_Split] = None,
    *,
    knowledge: _Knowledge,
    out: _Path,
    epochs: Optional[int] = None,
    batches: Optional[int] = None,
    learning_rate: Optional[float] = None,
    shots: Optional[int] = None,
    validation_episodes: Optional[int] = None,
    seed: Optional[int] = None,
    resume: bool = False,
    on_epoch: Optional[_OnEpoch] = None,
    progress: Optional[_Progress] = None,
) -> Training: ...
def metatrain(
    images: _Path,
    out: _Path,
    *,
    backbone: _Path,
    model: Optional[_Path] = None,
    knowledge: Optional[_Knowledge] = None,
    head: Optional[str] = None,
    split: Optional[_Path] = None,
    ways: Optional[int] = None,
    shots: Optional[int] = None,
    queries: Optional[int] = None,
    epochs: Optional[int] = None,
    batches: Optional[int] = None,
    episodes: Optional[int] = None,
    learning_rate: Optional[float] = None,
    validation_episodes: Optional[int] = None,
    device: Optional[str] = None,
    seed: Optional[int] = None,
    resume: bool = False,
    on_epoch: Optional[_OnEpoch] = None,
    progress: Optional[_Progress] = None,
) -> Training: ...
def threads() -> int: ...
def set_engine(name: Literal["auto", "onnxruntime", "torch"]) -> None: ...
def set_threads(count: int) -> None: ...
