"""Methods with the settings of easyfsl's classes (version 1.5), by its names for them."""
from ._errors import UsageError

# Answers are equal to those of easyfsl with feature_normalization=2 (and feature_centering, where transform=cl2n has base
# classes); of proto-net and mean with neither. pt-map is the nearest setting: docs/python.md.
PRESETS = {
    "prototypical-networks": "proto-net",
    "simple-shot": "mean",
    "bd-cspn": "bd-cspn:variant=sum:scale=1",
    "laplacian-shot": "laplacian-shot:prototypes=sum:queries=unmoved",
    "finetune": "baseline-pp:scale=1:steps=200:learning_rate=1e-4",
    "tim": "tim:variant=gd:logits=cosine:temperature=10:cross_entropy=1:steps=50",
    "transductive-finetuning": "tim:variant=gd:logits=distance:temperature=1:cross_entropy=1:marginal=0:conditional=1:steps=25:learning_rate=5e-5",
    "pt-map": "pt-map:transform=power:steps=10",
}
_PREFIX = "easyfsl:"


def text_of(method):
    """The library's method for "easyfsl:NAME", whose further parameters replace the preset's or are added; other methods
    unchanged."""
    if not method.startswith(_PREFIX):
        return method
    name, *more = method[len(_PREFIX):].split(":")
    if name not in PRESETS:
        raise UsageError(f"unknown preset '{method}': expected easyfsl:NAME, NAME one of {', '.join(PRESETS)} (easyfsl's other methods train networks of their own)")
    given = {one.split("=")[0] for one in more}
    own, *settings = PRESETS[name].split(":")
    return ":".join([own, *(one for one in settings if one.split("=")[0] not in given), *more])
