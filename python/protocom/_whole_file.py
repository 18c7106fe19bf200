"""Files that appear whole or not at all."""
import contextlib
import os


@contextlib.contextmanager
def whole_file(path):
    """A name beside ``path`` to write to, with the same suffix, which takes its place if no exception is raised: a full disk
    leaves the file as it was. A pipe or a device is written to as it is."""
    path = os.fspath(path)
    if os.path.lexists(path) and not os.path.isfile(path):
        yield path
        return
    target = os.path.realpath(path)  # a link stays
    beside = f"{target}.tmp-{os.getpid()}{os.path.splitext(target)[1]}"
    try:
        yield beside
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(beside)
        raise
