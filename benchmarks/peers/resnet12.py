"""The backbone of the paper as few-shot code writes it in Python: ResNet12, channels 64-128-256-512, LeakyReLU 0.1, no
activation after the last block, global average pool."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, c_in, c_out, last=False):
        super().__init__()
        self.conv1 = nn.Conv2d(c_in, c_out, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(c_out)
        self.conv2 = nn.Conv2d(c_out, c_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(c_out)
        self.conv3 = nn.Conv2d(c_out, c_out, 3, padding=1, bias=False)
        self.bn3 = nn.BatchNorm2d(c_out)
        self.downsample = nn.Sequential(nn.Conv2d(c_in, c_out, 1, bias=False), nn.BatchNorm2d(c_out))
        self.relu = nn.LeakyReLU(0.1)
        self.pool = nn.MaxPool2d(2)
        self.last = last

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out = out + self.downsample(x)
        if not self.last:
            out = self.relu(out)
        return self.pool(out)


class ResNet12(nn.Module):
    def __init__(self, channels=(64, 128, 256, 512)):
        super().__init__()
        widths = (3,) + tuple(channels)
        for i in range(4):
            setattr(self, f"layer{i + 1}", Block(widths[i], widths[i + 1], last=i == 3))

    def forward(self, x):
        for i in range(4):
            x = getattr(self, f"layer{i + 1}")(x)
        return x.mean(dim=(2, 3))


def flops(size, channels=(64, 128, 256, 512)):
    """Multiplications and additions of the convolutions of one image's forward pass; a training step takes three times
    as many (forward, gradient of the input, gradient of the weights)."""
    total, c_in = 0, 3
    for c in channels:
        total += 2 * size * size * (9 * c_in * c + 2 * 9 * c * c + c_in * c)
        c_in, size = c, size // 2
    return total
