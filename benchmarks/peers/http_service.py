#!/usr/bin/env python3
"""What one writes without protocom to classify photos over HTTP: FastAPI, Pillow and ONNX Runtime, the nearest class mean.

    ENCODER=encoder.onnx PHOTOS=photos uvicorn --app-dir benchmarks/peers --port 8081 http_service:app

PHOTOS has a folder for each class. EfficientNet-Lite0's images: 224 x 224 out of 256, mean 127, standard deviation 128. Needs fastapi and uvicorn."""
import io
import os
import pathlib

import fastapi
import numpy as np
import onnxruntime
from PIL import Image

SESSION = onnxruntime.InferenceSession(os.environ["ENCODER"], providers=["CPUExecutionProvider"])
INPUT = SESSION.get_inputs()[0]
app = fastapi.FastAPI()


def feature(data):
    photo = Image.open(io.BytesIO(data)).convert("RGB")
    scale = 256 / min(photo.size)
    photo = photo.resize((round(photo.width * scale), round(photo.height * scale)), Image.BILINEAR)
    left, top = (photo.width - 224) // 2, (photo.height - 224) // 2
    pixels = (np.asarray(photo.crop((left, top, left + 224, top + 224)), np.float32) - 127) / 128
    vector = SESSION.run(None, {INPUT.name: pixels[None] if INPUT.shape[-1] == 3 else pixels.transpose(2, 0, 1)[None]})[0].reshape(-1)
    return vector / np.linalg.norm(vector)


CLASSES = sorted(folder.name for folder in pathlib.Path(os.environ["PHOTOS"]).iterdir() if folder.is_dir())
MEANS = np.stack([np.mean([feature(photo.read_bytes()) for photo in sorted((pathlib.Path(os.environ["PHOTOS"]) / name).iterdir())], 0) for name in CLASSES])


@app.post("/v1/classify")
def classify(data: bytes = fastapi.Body(media_type="image/jpeg")):
    logits = 10 * MEANS @ feature(data)
    chances = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    return [{"class": CLASSES[i], "probability": float(chances[i])} for i in np.argsort(-chances)[:5]]
