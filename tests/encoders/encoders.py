"""Encoders of torchvision with random weights, written as docs/encoders.md says, TorchScript by its own line: the features that protocom extracts
by them must be those of Python, to a ten-thousandth of the largest. The photos have the size that the encoder's shorter side takes, so that
both cut the same pixels out of them.

    encoders.py PROGRAM GUIDE WORK"""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import numpy
import torch
import torchvision

program, guide, work = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), pathlib.Path(sys.argv[3])
TOLERANCE = 1e-4
SHORTER_SIDE, CROP = 256, 224  # as the guide's lines and --preprocess imagenet have them
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


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


def with_statistics(net):
    """Batch norms that have seen something, so that leaving them out would show."""
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.running_mean, -0.1, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
    return net


def write_photos():
    """A folder of two classes, PNG, which keeps every pixel. Returns them by name, uint8 [3, side, side]."""
    photos = {}
    for name in ("photos/a/1.png", "photos/a/2.png", "photos/b/1.png"):
        coarse = torch.rand(1, 3, 8, 8) * 255
        pixels = torch.nn.functional.interpolate(coarse, SHORTER_SIDE, mode="bilinear").squeeze(0).byte()
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        torchvision.io.write_png(pixels, str(work / name))
        photos[name.split("/", 1)[1]] = pixels
    return photos


def by_python(net, photos):
    edge = (SHORTER_SIDE - CROP) // 2
    batch = torch.stack([photo[:, edge:edge + CROP, edge:edge + CROP] for photo in photos]).float() / 255
    batch = torchvision.transforms.functional.normalize(batch, MEAN, STD)
    with torch.no_grad():
        return net(batch).numpy()


def by_protocom(encoder, *more):
    """Image id -> feature."""
    (work / "split.csv").write_text("class,split\na,base\nb,novel\n")
    command = [program, "--quiet", "extract", "photos", "--split", "split.csv", "--backbone", encoder, "--out", "features.npz", *more]
    subprocess.run(command, cwd=work, check=True, stdout=subprocess.DEVNULL)
    found = numpy.load(work / "features.npz")
    names = [str(name) for name in found["paths"]]
    return {name: found["features"][i] for i, name in enumerate(names)}


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


def compare(what, net, photos, found):
    expected = by_python(net, photos.values())
    got = numpy.stack([found[name] for name in photos])
    if got.shape != expected.shape:
        sys.exit(f"encoders: {what}: features {got.shape}, Python's are {expected.shape}")
    apart = abs(got - expected).max() / abs(expected).max()
    between = abs(expected[0] - expected[1]).max() / abs(expected).max()
    print(f"{what}: {expected.shape[1]} dimensions, {apart:.1e} apart, two photos {between:.1e}")
    if not apart < TOLERANCE < between / 10:
        sys.exit(f"encoders: {what}: features differ by {apart:.1e} of the largest, at most {TOLERANCE} may; two photos differ by {between:.1e}")


shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
torch.manual_seed(1)
torch.set_num_threads(2)
photos = write_photos()
for name, net in (("resnet18", without_last_layer("resnet18")), ("resnet50", without_last_layer("resnet50")),
                  ("convnext_tiny", without_last_layer("convnext_tiny")), ("a transformer of torchvision", small_transformer())):
    net = with_statistics(net)
    write_as_the_guide_does(net)
    compare(f"{name}, TorchScript", net, photos, by_protocom("encoder.pt"))
    if name.startswith("resnet"):
        write_safetensors(net)
        compare(f"{name}, safetensors", net, photos, by_protocom("encoder.safetensors", "--preprocess", "imagenet"))
