#!/usr/bin/env python3
"""Expected features of published encoders with made-up weights, from the Python code that people take them from.

    tests/golden/encoders.py --dinov2 CHECKOUT --timm CHECKOUT > tests/golden/encoders.json

Needs PyTorch and torchvision (Debian: python3-torch, python3-torchvision), and checkouts of facebookresearch/dinov2 and of
huggingface/pytorch-image-models. A weight is a function of its place and of its name's length, so that no file of weights is needed.
"""
import argparse
import json
import sys

import torch
import torchvision

from made_up import images, made_up, normalised


def attention(query, key, value, **_):
    """What newer versions of PyTorch have under this name."""
    return torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, -1) @ value


if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
    torch.nn.functional.scaled_dot_product_attention = attention


def fill(net):
    state = net.state_dict()
    for name, tensor in state.items():
        if tensor.is_floating_point():
            tensor.copy_(made_up(name, list(tensor.shape)))
    net.load_state_dict(state)
    return net.eval()


def expected(net, size):
    with torch.no_grad():
        features = fill(net)(normalised(images(size)))
    return {"size": size, "dim": features.shape[1], "every_16th": [[float(f"{v:.7g}") for v in row] for row in features[:, ::16].double().tolist()]}


def resnets():
    for name in ("resnet18", "resnet34", "resnet50"):
        net = getattr(torchvision.models, name)()
        net.fc = torch.nn.Identity()
        yield name, net, 64


def dinov2(checkout):
    sys.path.insert(0, checkout)
    from dinov2.models.vision_transformer import DinoVisionTransformer

    common = dict(img_size=70, patch_size=14, embed_dim=128, depth=3, num_heads=2, init_values=1.0, block_chunks=0)
    yield "dinov2", DinoVisionTransformer(**common), 70
    yield "dinov2-stretched", DinoVisionTransformer(**common), 56
    yield "dinov2-registers", DinoVisionTransformer(**common, num_register_tokens=4, interpolate_antialias=True, interpolate_offset=0.0), 42


def timm(checkout):
    sys.path.insert(0, checkout)
    from timm.models.vision_transformer import VisionTransformer

    for name, size in (("timm", 64), ("timm-resized", 48)):
        yield name, VisionTransformer(img_size=64, patch_size=16, embed_dim=128, depth=3, num_heads=2, num_classes=0, dynamic_img_size=True), size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dinov2", required=True)
    parser.add_argument("--timm", required=True)
    arguments = parser.parse_args()
    result = {}
    for source in (resnets(), dinov2(arguments.dinov2), timm(arguments.timm)):
        for name, net, size in source:
            result[name] = expected(net, size)
    print(json.dumps(result, indent=0))


main()
