#!/usr/bin/python3
"""The peer of `protocom pretrain`: the plain PyTorch loop in float32, as the published code of the method and its kin
writes it. Prints a JSON object an epoch: {"epoch": 1, "loss": ..., "images_per_second": ...}."""
import argparse
import json
import time

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader

from images import Folder, to_train
from resnet12 import ResNet12


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("images", help="folder of class folders")
    parser.add_argument("--image-size", type=int, default=84)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.1, help="falls to 0 along a cosine")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", help="write the backbone's state dict, npz")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="processes of the DataLoader")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()

    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    data = Folder(arguments.images, to_train(arguments.image_size))
    loader = DataLoader(data, arguments.batch, shuffle=True, num_workers=arguments.workers, drop_last=True,
                        pin_memory=arguments.device != "cpu")
    backbone = ResNet12().to(arguments.device)
    classifier = nn.Linear(512, data.classes).to(arguments.device)
    parameters = list(backbone.parameters()) + list(classifier.parameters())
    optimizer = torch.optim.SGD(parameters, lr=arguments.lr, momentum=0.9, nesterov=True, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, arguments.epochs)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(arguments.epochs):
        backbone.train()
        begun, seen, total = time.perf_counter(), 0, 0.0
        for images, labels in loader:
            images, labels = images.to(arguments.device), labels.to(arguments.device)
            loss = criterion(classifier(backbone(images)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += len(labels)
            total += loss.item() * len(labels)
        scheduler.step()
        seconds = time.perf_counter() - begun
        print(json.dumps({"epoch": epoch + 1, "loss": total / seen, "images_per_second": seen / seconds}), flush=True)
    if arguments.save:
        numpy.savez(arguments.save, **{name: tensor.cpu().numpy() for name, tensor in backbone.state_dict().items()})


if __name__ == "__main__":
    main()
