import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import protocom
from protocom import _torch

GOLDEN = pathlib.Path(__file__).parent.parent / "golden"


NEED_LIBTORCH = {"photos", "few_photos", "clip_folder"}  # fixtures with encoders


def pytest_runtest_setup(item):
    """Encoders cannot be opened beside a PyTorch of another LibTorch, which a test before may have imported."""
    torch = sys.modules.get("torch")
    if torch is not None and _torch._is_another(torch.__version__) and NEED_LIBTORCH & set(item.fixturenames):
        pytest.skip(f"encoders need LibTorch, and this process has imported PyTorch {torch.__version__}")


@pytest.fixture(scope="session")
def program():
    return os.environ["PROTOCOM_PROGRAM"]


def clusters(classes, images, d=16, seed=1, scatter=0.7):
    """Features [classes * images, d] and labels: normal around centres, as an encoder's, above 0."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(classes, d))
    labels = np.repeat(np.arange(classes), images)
    return (2 + centres[labels] + scatter * draw.normal(size=(classes * images, d))).astype(np.float32), labels


@pytest.fixture(scope="session")
def task():
    """X, y, Q and what is right for Q: five classes, four images and fifteen queries each."""
    x, y = clusters(5, 19)
    names = np.array(["cat", "dog", "eel", "fox", "gnu"])[y]
    support = np.arange(len(y)) % 19 < 4
    return x[support], names[support], x[~support], names[~support]


@pytest.fixture(scope="session")
def collection():
    """Features of 12 base, 4 val and 6 novel classes."""
    x, y = clusters(22, 24, seed=2, scatter=1.2)
    return protocom.FeatureSet(x, y, ["base"] * 12 + ["val"] * 4 + ["novel"] * 6)


ENCODER = """
import sys, torch
class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.image_size = 32
    def forward(self, images):
        return torch.nn.functional.adaptive_avg_pool2d(images, 4).flatten(1)
torch.jit.script(Encoder()).save(sys.argv[1])
"""

COLOURS = {"red": (220, 40, 30), "green": (40, 200, 60), "blue": (30, 60, 210)}


def photo(colour, seed):
    """uint8 [40, 50, 3] of a colour with noise."""
    noise = np.random.default_rng(seed).normal(0, 25, (40, 50, 3))
    return np.clip(np.array(COLOURS[colour]) + noise, 0, 255).astype(np.uint8)


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """A folder with encoder.pt, my-photos/COLOUR/n.png and holiday/n.png."""
    folder = tmp_path_factory.mktemp("photos")
    (folder / "encoder.py").write_text(ENCODER)
    for python in (sys.executable, "/usr/bin/python3"):  # the interpreter that is tested needs no PyTorch
        written = subprocess.run([python, "-W", "ignore", str(folder / "encoder.py"), str(folder / "encoder.pt")], capture_output=True)
        if written.returncode == 0:
            break
    else:
        pytest.skip("PyTorch is needed to write an encoder")
    image = pytest.importorskip("PIL.Image")
    for i, colour in enumerate(COLOURS):
        (folder / "my-photos" / colour).mkdir(parents=True)
        for k in range(4):
            image.fromarray(photo(colour, 10 * i + k)).save(folder / "my-photos" / colour / f"{k}.png")
    (folder / "holiday").mkdir()
    for number, colour in enumerate(["blue", "red", "green"], 1):
        image.fromarray(photo(colour, 100 + number)).save(folder / "holiday" / f"{number}.png")
    return folder


@pytest.fixture(scope="session")
def few_photos(photos, tmp_path_factory):
    """Three photos of each colour: too few for a threshold of none of these, so that each photo gets a class."""
    folder = tmp_path_factory.mktemp("few")
    for colour in COLOURS:
        (folder / colour).mkdir()
        for k in range(3):
            shutil.copy(photos / "my-photos" / colour / f"{k}.png", folder / colour)
    return folder


def noise(count, shift):
    """As tests/golden/made_up.py."""
    value = 43758.5453 * np.sin(12.9898 * np.arange(count, dtype=np.float64) + shift)
    return 2 * (value - np.floor(value)) - 1


def made_up(name, shape):
    values = noise(int(np.prod(shape)), len(name)).reshape(shape)
    if len(shape) == 1:
        return 1 + 0.2 * values if name.endswith("weight") else 0.1 * values
    return values * (3 / (np.prod(shape) / shape[0])) ** 0.5


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        raw = np.ascontiguousarray(values, np.float32).tobytes()
        header[name] = {"dtype": "F32", "shape": list(np.shape(values)), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


@pytest.fixture(scope="session")
def golden_texts():
    """Texts, and their vectors by CLIP's text tower in `transformers` (tests/golden/text_encoders.py)."""
    return json.loads((GOLDEN / "text_encoders.json").read_text())


@pytest.fixture(scope="session")
def clip_folder(tmp_path_factory, golden_texts):
    """Both towers of a small CLIP with made-up weights: 24 numbers, images of 32 pixels."""
    folder = tmp_path_factory.mktemp("clip")
    texts, images = golden_texts["clip"], json.loads((GOLDEN / "huggingface.json").read_text())["clip-projected"]
    shapes = {**texts["shapes"], **images["shapes"]}
    write_safetensors(folder / "model.safetensors", {name: made_up(name, shape) for name, shape in shapes.items()})
    (folder / "config.json").write_text(json.dumps({"model_type": "clip", "text_config": texts["config"], "vision_config": images["config"]}))
    (folder / "vocab.json").write_text(json.dumps(texts["vocabulary"]))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(texts["merges"]) + "\n")
    (folder / "preprocessor_config.json").write_text(json.dumps({"image_mean": [0.5] * 3, "image_std": [0.5] * 3, "size": 32}))
    return folder
