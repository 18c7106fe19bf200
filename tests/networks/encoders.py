"""Encoders of torchvision with random weights, written as docs/encoders.md says, TorchScript by its own line: the features that protocom extracts
by them must be those of Python, to a ten-thousandth of the largest. The photos have the size that the encoder's shorter side takes, so that
both cut the same pixels out of them.

    encoders.py PROGRAM GUIDE WORK"""
import json
import pathlib
import re
import shutil
import struct
import sys

import torch
import torchvision

from photos import Photos, with_statistics

program, guide, work = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), pathlib.Path(sys.argv[3])
TOLERANCE = 1e-4
SHORTER_SIDE, CROP = 256, 224  # as the guide's lines and --preprocess imagenet have them


def without_last_layer(name):
    net = getattr(torchvision.models, name)()
    if hasattr(net, "fc"):
        net.fc = torch.nn.Identity()
    else:
        net.classifier[-1] = torch.nn.Identity()
    return net.eval()


def small_transformer():
    net = torchvision.models.VisionTransformer(image_size=CROP, patch_size=32, num_layers=2, num_heads=2, hidden_dim=64, mlp_dim=128)
    net.heads = torch.nn.Identity()
    return net.eval()


def write_as_the_guide_does(net):
    """TorchScript with what it expects of its images inside, by the guide's own statement; without gradients, as the guide says of
    torchvision's transformers."""
    block = re.search(r"```python\nimport json, timm.*?\n```", guide, re.S).group()
    statement = re.search(r"torch\.jit\.save\(.*\}\)\}\)", block, re.S).group()
    file = work / "encoder.pt"
    with torch.no_grad():
        exec(statement.replace('"encoder.pt"', "str(file)"), {"torch": torch, "json": json, "net": net, "file": file})


def write_safetensors(net):
    """By hand: Debian 12 has no package of that library."""
    header, data = {}, b""
    for name, tensor in net.state_dict().items():
        kind = {torch.float32: "F32", torch.int64: "I64"}[tensor.dtype]
        raw = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    (work / "encoder.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
torch.manual_seed(1)
torch.set_num_threads(2)
photos = Photos(program, work, SHORTER_SIDE, CROP)
for name, net in (("resnet18", without_last_layer("resnet18")), ("resnet50", without_last_layer("resnet50")),
                  ("convnext_tiny", without_last_layer("convnext_tiny")), ("a transformer of torchvision", small_transformer())):
    net = with_statistics(net)
    write_as_the_guide_does(net)
    photos.compare(f"{name}, TorchScript", net, photos.by_protocom("encoder.pt"), TOLERANCE)
    if name.startswith("resnet"):
        write_safetensors(net)
        photos.compare(f"{name}, safetensors", net, photos.by_protocom("encoder.safetensors", "--preprocess", "imagenet"), TOLERANCE)
