"""Modules of the standard library that are imported at their first use: classifiers do without them, and they would be half
of the time that ``import protocom`` takes."""
import importlib


class _Later:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return getattr(importlib.import_module(self._name), name)


base64, glob, html, json, logging, tempfile, zipfile = map(
    _Later, ("base64", "glob", "html", "json", "logging", "tempfile", "zipfile")
)
