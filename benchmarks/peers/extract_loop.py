#!/usr/bin/python3
"""The peer of `protocom extract`: features of all images by the plain PyTorch loop in float32. Prints a JSON object a
round: {"images_per_second": ...}."""
import argparse
import json
import time

import torch
from torch.utils.data import DataLoader

from images import Folder, to_test
from resnet12 import ResNet12


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("images", help="folder of class folders")
    parser.add_argument("--image-size", type=int, default=84)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="processes of the DataLoader")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()

    torch.manual_seed(1)
    torch.set_num_threads(arguments.threads)
    data = Folder(arguments.images, to_test(arguments.image_size))
    loader = DataLoader(data, arguments.batch, num_workers=arguments.workers, pin_memory=arguments.device != "cpu")
    backbone = ResNet12().to(arguments.device).eval()
    for _ in range(arguments.rounds):
        begun, features = time.perf_counter(), []
        with torch.no_grad():
            for images, _ in loader:
                features.append(backbone(images.to(arguments.device)).cpu())
        torch.cat(features)
        print(json.dumps({"images_per_second": len(data) / (time.perf_counter() - begun)}), flush=True)


if __name__ == "__main__":
    main()
