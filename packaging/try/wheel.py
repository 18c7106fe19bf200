"""What a user does with the wheel, by the Python that it was installed for, in a folder to write in (scripts/try-wheel).

    python wheel.py [RECOGNIZER]      one that was made elsewhere, for a protocom that cannot run an encoder itself
"""
import importlib.metadata
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

BIN = pathlib.Path(sys.executable).parent
NO_ENCODER = "ONNX Runtime is not found"  # says who has nothing that runs encoders
begin = time.monotonic()


def took(what):
    global begin
    print(f"try-wheel: {time.monotonic() - begin:5.1f} s  {what}", flush=True)
    begin = time.monotonic()


def left_out(what, why):
    print(f"try-wheel: LEFT OUT: {what}: {why.strip()}", flush=True)


def run(*command, status=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"try-wheel: {command} gave exit {done.returncode} and not {status}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def python(code, *arguments):
    return run(sys.executable, "-W", "error::ImportWarning", "-c", code, *arguments)


def programs():
    """They are on the environment's PATH, and their exit status is their own."""
    assert "Usage: protocom" in run(BIN / "protocom", "--help")
    took("protocom --help")
    version = importlib.metadata.version("protocom")
    for program in ([BIN / "protocom"], [BIN / "protocom-serve"], [sys.executable, "-m", "protocom"]):
        assert version in run(*program, "--version"), program
    assert "no-such." in run(BIN / "protocom", "classify", "no-such.pcm", "no-such.jpg", status=1)
    run(BIN / "protocom", "no-such-command", status=2)
    run(BIN / "protocom", "--quiet", "synth", "creatures", "--image-size", "48", "--base", "8", "--val", "0", "--novel", "4", "--images-per-class", "12")
    took("versions, exit status, and photos drawn")


def features():
    python("""
import protocom, sys
protocom.threads()
assert not [name for name in sys.modules if name.split(".")[0] == "torch"], "import protocom looked for torch"
""")
    took("import protocom and its library")
    print(python("""
import numpy as np, protocom
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
X, y = load_digits(return_X_y=True)
accuracy = cross_val_score(make_pipeline(StandardScaler(), protocom.PLDA()), X.astype(np.float32), y, cv=3).mean()
assert accuracy > 0.85, accuracy
print(f"try-wheel: accuracy {accuracy:.3f} on scikit-learn's digits")
"""), end="")
    took("PLDA in a scikit-learn pipeline")


def recognizer_of_photos():
    """Made by the encoder that the wheel brings; None where it has none or protocom cannot run it."""
    encoder = importlib.metadata.distribution("protocom").locate_file("protocom/encoders/efficientnet-lite0.onnx")
    if not os.path.exists(encoder):
        return left_out("photos", "the wheel has no encoder")
    made = subprocess.run([BIN / "protocom", "--quiet", "recognizer", "create", "photos.pcm", "--backbone", encoder], capture_output=True, text=True)
    if NO_ENCODER in made.stderr:
        return left_out("photos", made.stderr)
    assert made.returncode == 0, made
    python("""
import pathlib, protocom
mine = protocom.Recognizer.open("photos.pcm")
classes = [sorted(folder.glob("*.jpg")) for folder in sorted(pathlib.Path("creatures").iterdir()) if folder.is_dir()][:4]
for photos in classes:
    mine.enrol(photos[0].parent.name, photos[:6])
right = sum(mine.classify(photo).name == photo.parent.name for photos in classes for photo in photos[6:])
assert right > 12, f"{right} of 24 photos are right"
""")
    took("photos enrolled and classified, by the encoder that the wheel brings")
    return "photos.pcm"


def classes_of_features(recognizer):
    """Features need no encoder."""
    size = re.search(r"^features +(\d+) numbers", run(BIN / "protocom", "recognizer", "info", recognizer), re.M)[1]
    python("""
import json, sys, numpy as np, protocom
mine = protocom.Recognizer.open(sys.argv[1])
drawn = 5 + np.random.default_rng(1).normal(size=(6, int(sys.argv[2]))).astype(np.float32)
mine.enrol("drawn", drawn[:5])
assert mine.classify(drawn[5:])[0].name == "drawn"
json.dump({"features": drawn[5:].tolist()}, open("request.json", "w"))
""", recognizer, size)
    took("a class of features enrolled, and one of it classified")


def get(url, *request):
    return urllib.request.urlopen(urllib.request.Request(url, *request), timeout=30).read()


def server(recognizer):
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    process = subprocess.Popen([BIN / "protocom", "serve", recognizer, "--port", str(port)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    url = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            get(f"{url}/healthz")
            break
        except OSError:
            if process.poll() is not None:
                said = process.stdout.read()
                assert NO_ENCODER in said, said
                return left_out("the server", said)
            time.sleep(0.1)
    answer = json.loads(get(f"{url}/v1/classify", pathlib.Path("request.json").read_bytes(), {"Content-Type": "application/json"}))
    assert "drawn" in json.dumps(answer), answer
    assert b"<html" in get(f"{url}/")
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0, process.stdout.read()
    took("the server answered features, gave its page, and ended at SIGTERM")


def both_orders():
    """In each order both compute, and the answers are those that each has alone."""
    code = """
import sys
for name in sys.argv[1:]:
    __import__(name)
import numpy as np, protocom, torch
draws = np.random.default_rng(0)
y = np.repeat(np.arange(4), 100)
X = draws.normal(size=(400, 640)).astype(np.float32)
X[np.arange(400), y] += 8
def ours():
    return protocom.PLDA().fit(X[::20], y[::20]).predict_proba(X)
def theirs():
    return torch.linalg.eigvalsh(torch.from_numpy(X.T @ X))
first = {"protocom": ours, "torch": theirs}[sys.argv[1]]()
assert (ours().argmax(1) == y).mean() > 0.9
assert np.allclose(theirs().numpy(), np.linalg.eigvalsh(X.T @ X), rtol=1e-3, atol=1)
assert np.array_equal(np.asarray(first), np.asarray({"protocom": ours, "torch": theirs}[sys.argv[1]]()))
print(torch.__version__, "%.6f" % ours().max(1).sum())
"""
    said = [python(code, *order) for order in (["torch", "protocom"], ["protocom", "torch"])]
    assert said[0] == said[1], said
    took(f"import torch before and after protocom: PyTorch {said[0].split()[0]}")


programs()
features()
made = recognizer_of_photos() or (sys.argv[1] if sys.argv[1:] else None)
if made is None:
    left_out("a recognizer", "there is none to ask")
else:
    classes_of_features(made)
    server(made)
if subprocess.run([sys.executable, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"]).returncode == 0:
    both_orders()
else:
    left_out("beside PyTorch", "it is not installed (TORCH=torch)")
