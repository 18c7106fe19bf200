import os
import subprocess
import sys

import numpy as np
import pytest

import protocom


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
