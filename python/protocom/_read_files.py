"""Pickling of objects that were read from files: the pickle holds the bytes of the file."""
import os

from ._later import tempfile


def bytes_of(read):
    """The bytes of the file that an object was read from."""
    if read._data is not None:
        return read._data
    with open(read._path, "rb") as file:
        return file.read()


def read_from(kind, data):
    """An object of a class that reads a path, from the bytes of its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file.npz")
        with open(path, "wb") as file:
            file.write(data)
        made = kind(path)
    made._data = data
    return made
