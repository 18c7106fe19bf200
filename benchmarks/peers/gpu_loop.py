#!/usr/bin/env python3
"""The peer of `protocom pretrain --device cuda`: ResNet12 in plain PyTorch, tensors channels-last, bfloat16 by autocast or float32, cuDNN
searching its algorithms once. Random images lie on the device as uint8; a step crops, flips and normalises a batch of them there, or takes
one that is ready (the network alone). Prints a JSON object a row: {"what": ..., "images_per_second": ...}."""
import argparse
import json
import time

import torch
from torch import nn

from resnet12 import ResNet12


def varied(images, size):
    """The same crop and flip for the whole batch, which costs least; no colours."""
    pad = max(1, round(size * 8 / 84))
    images = nn.functional.pad(images.float() / 255, (pad, pad, pad, pad))
    top, left = torch.randint(0, 2 * pad + 1, (2,)).tolist()
    images = images[:, :, top:top + size, left:left + size]
    return ((images.flip(3) if torch.rand(1).item() < 0.5 else images) - 0.45) / 0.27


def wait(device):
    if device != "cpu":
        torch.cuda.synchronize()


def rate(step, batch, steps, device):
    for _ in range(10 if device != "cpu" else 1):
        step()
    wait(device)
    begun = time.perf_counter()
    for _ in range(steps):
        step()
    wait(device)
    return batch * steps / (time.perf_counter() - begun)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image-size", type=int, default=84)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    device, steps = arguments.device, arguments.steps if arguments.device != "cpu" else 2

    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    images = torch.randint(0, 256, (4096 if device != "cpu" else 256, 3, arguments.image_size, arguments.image_size), dtype=torch.uint8,
                           device=device)
    labels = torch.randint(0, 60, (len(images),), device=device)
    ready = varied(images[:arguments.batch], arguments.image_size).contiguous(memory_format=torch.channels_last)
    for precision in ("bfloat16", "float32"):
        network = nn.Sequential(ResNet12(), nn.Linear(512, 60)).to(device, memory_format=torch.channels_last)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)
        criterion = nn.CrossEntropyLoss()

        def forward(batch):
            with torch.autocast(device, torch.bfloat16, enabled=precision == "bfloat16"):
                return network(batch)

        def train(batch, targets):
            loss = criterion(forward(batch), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        def train_from_images():
            chosen = torch.randint(0, len(images), (arguments.batch,), device=device)
            batch = varied(images[chosen], arguments.image_size).contiguous(memory_format=torch.channels_last)
            train(batch, labels[chosen])

        def infer():
            with torch.no_grad():
                forward(ready)

        rows = {f"training from images, {precision}": train_from_images,
                f"training, the network alone, {precision}": lambda: train(ready, labels[:arguments.batch])}
        for what, step in rows.items():
            print(json.dumps({"what": what, "images_per_second": rate(step, arguments.batch, steps, device)}), flush=True)
        network.eval()
        print(json.dumps({"what": f"features, the network alone, {precision}",
                          "images_per_second": rate(infer, arguments.batch, steps, device)}), flush=True)


if __name__ == "__main__":
    main()
