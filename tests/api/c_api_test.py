"""The C header from Python's ctypes: c_api_test.py LIBRARY FOLDER, a folder as c_api_test.c takes it."""
import ctypes
import os
import sys

library, folder = ctypes.CDLL(sys.argv[1]), sys.argv[2]


class Image(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("encoded", ctypes.c_char_p), ("encoded_size", ctypes.c_size_t),
                ("rgb", ctypes.c_char_p), ("height", ctypes.c_int64), ("width", ctypes.c_int64),
                ("stride", ctypes.c_int64)]


class Parts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p)
                for name in ("backbone", "preprocessing", "fitted", "space", "model", "knowledge")]


for name, result in (("error", ctypes.c_char_p), ("open", ctypes.c_void_p), ("classify", ctypes.c_void_p),
                     ("answer_name", ctypes.c_char_p), ("list_classes", ctypes.c_void_p),
                     ("class_name", ctypes.c_char_p), ("answer_probability", ctypes.c_double)):
    getattr(library, "protocom_" + name).restype = result
size, handle = ctypes.c_size_t, ctypes.c_void_p
library.protocom_answer_name.argtypes = [handle, size]
library.protocom_answer_probability.argtypes = [handle, size, size]
library.protocom_class_name.argtypes = [handle, size]
library.protocom_enrol.argtypes = library.protocom_classify.argtypes = None


def file(name):
    return os.path.join(folder, name).encode()


def expect(condition, what):
    if not condition:
        sys.exit(f"{what}: {library.protocom_error().decode()}")


expect(library.protocom_create(file("ctypes.pcm"), ctypes.byref(Parts(backbone=file("encoder.npz")))) == 0, "create")
birds = handle(library.protocom_open(file("ctypes.pcm"), None))
expect(birds, "open")
for name, photo in ((b"cardinal", "red.png"), (b"bluebird", "blue.png")):
    expect(library.protocom_enrol(birds, name, ctypes.byref(Image(path=file(photo))), size(1)) == 0, "enrol")
asked = (Image * 2)(Image(path=file("asked.png")), Image(rgb=bytes([10, 10, 210]) * 256, height=16, width=16))
answers = handle(library.protocom_classify(birds, asked, size(2)))
expect(answers, "classify")
names = [library.protocom_answer_name(answers, i) for i in (0, 1)]
expect(names == [b"cardinal", b"bluebird"], f"found {names}")
expect(0.5 < library.protocom_answer_probability(answers, 0, 0) <= 1, "probability")
library.protocom_answers_free(answers)
classes = handle(library.protocom_list_classes(birds))
expect(library.protocom_class_name(classes, 1) == b"bluebird", "classes")
library.protocom_classes_free(classes)
expect(library.protocom_undo(birds) == 0, "undo")
expect(library.protocom_redo(birds) == 0, "redo")
expect(not library.protocom_open(b"none.pcm", None) and library.protocom_error() == b"none.pcm: no such file", "error")
library.protocom_close(birds)
print("protocom speaks to ctypes")
