#!/usr/bin/python3
"""What the DataLoader of the plain PyTorch loop delivers without training: JPEGs decoded and augmented. Prints a JSON object an
epoch: {"images_per_second": ...}."""
import argparse
import json
import time

import torch
from torch.utils.data import DataLoader

from images import Folder, to_train


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("images", help="folder of class folders")
    parser.add_argument("--image-size", type=int, default=84)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch itself")
    parser.add_argument("--workers", type=int, default=2, help="processes of the DataLoader")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    data = Folder(arguments.images, to_train(arguments.image_size))
    loader = DataLoader(data, arguments.batch, shuffle=True, num_workers=arguments.workers, drop_last=True)
    for _ in range(arguments.epochs):
        begun = time.perf_counter()
        seen = sum(len(labels) for _, labels in loader)
        print(json.dumps({"images_per_second": seen / (time.perf_counter() - begun)}), flush=True)


if __name__ == "__main__":
    main()
