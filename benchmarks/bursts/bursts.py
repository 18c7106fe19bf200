"""What a recognizer promises of labelled bursts, and what it does: expected accuracy, its range, mean certainty and real accuracy.

    python benchmarks/bursts/bursts.py frames CUB_200_2011/images --backbone encoder.onnx --out frames.npz
    python benchmarks/bursts/bursts.py measure frames.npz --backbone encoder.onnx --draws 20 --out bursts.json

Frames of a moment are one photo, shifted by up to 3 % of its side, with another exposure (gamma .85 to 1.18) and JPEG quality (60 to 95).
Of every class eight moments of four frames and twenty other photos, which are held out. Inductive, by plda, from nothing but these photos.
"""
import argparse
import io
import json
import pathlib
import re
import tempfile

import numpy as np
import protocom

MOMENTS, FRAMES, HELD_OUT = 8, 4, 20
SETTINGS = {"1 x 4": (1, 4), "2 x 4": (2, 4), "2 x 1": (2, 1), "3 x 3": (3, 3), "3 x 1": (3, 1), "6 x 1": (6, 1), "4 x 2": (4, 2), "1 to 3 frames x 5": (5, 0)}


def frame(photo, rng):
    from PIL import Image
    width, height = photo.size
    x, y = rng.uniform(-0.03, 0.03, 2) * (width, height)
    moved = photo.transform(photo.size, Image.AFFINE, (1, 0, x, 0, 1, y), Image.BILINEAR)
    left, top = max(0, -x), max(0, -y)
    moved = moved.crop((int(np.ceil(left)), int(np.ceil(top)), int(width - max(0, x)), int(height - max(0, y))))
    gamma = rng.uniform(0.85, 1.18)
    moved = moved.point([int(round(255 * (v / 255) ** gamma)) for v in range(256)] * 3)
    stored = io.BytesIO()
    moved.save(stored, "JPEG", quality=int(rng.integers(60, 96)))
    return stored.getvalue()


def make_frames(folder, backbone, preprocess, out, classes, seed):
    from PIL import Image
    encoder = protocom.Backbone(backbone, preprocess=preprocess)
    rng = np.random.default_rng(seed)
    names = sorted(one for one in pathlib.Path(folder).iterdir() if len(list(one.glob("*.jpg"))) >= MOMENTS + HELD_OUT)
    names = names[:: max(1, len(names) // classes)][:classes]
    bursts, held = [], []
    for name in names:
        photos = rng.permutation(sorted(name.glob("*.jpg")))[:MOMENTS + HELD_OUT]
        images = [frame(Image.open(photo).convert("RGB"), rng) for photo in photos[:MOMENTS] for _ in range(FRAMES)]
        rows = encoder.extract([*images, *map(str, photos[MOMENTS:])])
        bursts.append(rows[:MOMENTS * FRAMES].reshape(MOMENTS, FRAMES, -1))
        held.append(rows[MOMENTS * FRAMES:])
        print(name.name, rows.shape, flush=True)
    np.savez_compressed(out, bursts=np.array(bursts, np.float32), held_out=np.array(held, np.float32), names=[one.name for one in names])


def measured(file, backbone, preprocess, setting, way, rng, folder, moments):
    bursts, held = file["bursts"], file["held_out"]
    classes = rng.choice(len(bursts), way, replace=False)
    path = pathlib.Path(folder) / "drawn.pcm"
    path.unlink(missing_ok=True)
    mine = protocom.Recognizer.create(path, backbone=backbone, preprocess=preprocess, external_backbone=True, moments=moments)
    count, frames = setting
    joined, truth = 0, 0
    for k in classes:
        taken = rng.choice(MOMENTS, count, replace=False)
        rows = np.concatenate([bursts[k, m, :frames or rng.integers(1, 4)] for m in taken])
        mine.enrol(str(k), rows)
        truth += count
    said = mine.expected_accuracy()
    numbers = re.search(r"expected accuracy on new photos (\d+) %, between (\d+) and (\d+) %", said)
    counted = re.search(r"(\d+) moment", said)
    answers = mine.classify(np.concatenate([held[k] for k in classes]))
    right = np.repeat([str(k) for k in classes], HELD_OUT)
    sure = [one.probability / (1 - (one.none or 0)) for one in answers]
    made = {"accuracy": 100 * float(np.mean([one.ranking[0][0] == name for one, name in zip(answers, right)])),
            "certainty": 100 * float(np.mean(sure)), "moments found per true moment": float(counted.group(1)) / truth if counted else len(mine) and sum(mine.classes.values()) / truth,
            "warned": 100.0 * ("nearly the same" in said)}
    if numbers:
        expected, low, high = map(float, numbers.groups())
        made.update({"expected": expected, "low": low, "high": high, "held": 100.0 * (low - 0.5 <= made["accuracy"] <= high + 0.5)})
    mine.close()
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["frames", "measure"])
    parser.add_argument("source")
    parser.add_argument("--backbone", required=True)
    parser.add_argument("--preprocess", default="", help="where the encoder's file does not state it")
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--way", type=int, default=10)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--settings", default="2 x 4,2 x 1,3 x 3,3 x 1,6 x 1")
    parser.add_argument("--moments", default="auto", choices=["auto", "off"])
    parser.add_argument("--out", required=True)
    asked = parser.parse_args()
    if asked.step == "frames":
        return make_frames(asked.source, asked.backbone, asked.preprocess, asked.out, asked.classes, asked.seed)
    file = {key: value for key, value in np.load(asked.source).items()}
    made = {"draws": asked.draws, "seed": asked.seed, "way": asked.way, "mode": "inductive", "moments": asked.moments, "settings": {}}
    for name in asked.settings.split(","):
        with tempfile.TemporaryDirectory() as folder:
            found = [measured(file, asked.backbone, asked.preprocess, SETTINGS[name], asked.way, np.random.default_rng([asked.seed, i]), folder, asked.moments == "auto")
                     for i in range(asked.draws)]
        made["settings"][name] = {key: round(float(np.mean([one[key] for one in found if key in one])), 2) for key in found[0]}
        made["settings"][name]["accuracy half-width"] = round(1.96 * float(np.std([one["accuracy"] for one in found], ddof=1)) / len(found) ** 0.5, 2)
        print(name, made["settings"][name], flush=True)
    pathlib.Path(asked.out).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
