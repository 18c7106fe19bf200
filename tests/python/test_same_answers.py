"""The same photos get the same answers from the command line, the server, C, C++ and Python."""
import json
import os
import re
import subprocess
import sys
import urllib.request

import pytest

import protocom

# The whole ranking of each photo by the C interface.
BY_C = """
import ctypes, json, sys
library = ctypes.CDLL(sys.argv[1])
size, handle, text, real = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double
for name, result, arguments in (("open", handle, [text, text]), ("classify", handle, [handle, handle, size]), ("error", text, []),
                                ("answer_ranked", size, [handle, size]), ("answer_class", text, [handle, size, size]),
                                ("answer_probability", real, [handle, size, size])):
    function = getattr(library, "protocom_" + name)
    function.restype, function.argtypes = result, arguments
class Image(ctypes.Structure):
    _fields_ = [("path", text), ("encoded", text), ("encoded_size", size), ("rgb", text), ("height", ctypes.c_int64),
                ("width", ctypes.c_int64), ("stride", ctypes.c_int64)]
photos = sys.argv[3:]
images = (Image * len(photos))(*[Image(path=one.encode()) for one in photos])
answers = library.protocom_classify(library.protocom_open(sys.argv[2].encode(), None), images, len(photos))
if not answers:
    sys.exit(library.protocom_error().decode())
print(json.dumps([[[library.protocom_answer_class(answers, i, k).decode(), library.protocom_answer_probability(answers, i, k)]
                   for k in range(library.protocom_answer_ranked(answers, i))] for i in range(len(photos))]))
"""


def rankings(answers):
    return [[(one["class"], one["probability"]) for one in answer["ranking"]] for answer in answers]


def by_command_line(program, recognizer, photos):
    lines = subprocess.run([program, "--quiet", "classify", recognizer, *photos, "--format", "json"], check=True, capture_output=True).stdout
    return rankings(json.loads(line) for line in lines.splitlines())


def by_server(program, recognizer, photos):
    server = subprocess.Popen([program, "--quiet", "serve", recognizer, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://\S+", server.stdout.readline()).group(0)
        found = []
        for photo in photos:
            request = urllib.request.Request(address + "v1/classify", photo.read_bytes(), {"Content-Type": "image/png"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                found += json.load(answer)["answers"]
        return rankings(found)
    finally:
        server.terminate()
        server.wait(30)


def by_program(command):
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [[tuple(one) for one in answer] for answer in json.loads(printed)]


def test_five_ways_give_the_same_answers(photos, few_photos, tmp_path, program):
    if "PROTOCOM_LIBRARY" not in os.environ:
        pytest.skip("PROTOCOM_LIBRARY names no libprotocom.so")
    mine = tmp_path / "mine.pcm"
    recognizer = protocom.Recognizer.create(mine, backbone=photos / "encoder.pt", images=few_photos)
    asked = sorted((photos / "holiday").iterdir())
    expected = [[(name, probability) for name, probability in one.ranking] for one in recognizer.classify(asked)]
    assert len(expected) == 3 and all(len(ranking) == 3 for ranking in expected)
    found = {
        "command line": by_command_line(program, mine, asked),
        "server": by_server(program, mine, asked),
        "C": by_program([sys.executable, "-c", BY_C, os.environ["PROTOCOM_LIBRARY"], mine, *asked]),
        "C++": by_program([os.environ["PROTOCOM_ANSWERS"], mine, *asked]),
    }
    for way, answers in found.items():
        assert [[name for name, _ in ranking] for ranking in answers] == [[name for name, _ in ranking] for ranking in expected], way
        for ranking, right in zip(answers, expected):
            for (_, probability), (_, other) in zip(ranking, right):
                assert probability == pytest.approx(other, abs=1e-6), way
