"""Networks of torchvision with random weights, exported to ONNX by torch.onnx in operator sets from 9 on, with a batch of one or any: the features
that protocom extracts by them must be those of Python, to a hundred-thousandth of the largest.

    onnx_exports.py PROGRAM WORK"""
import pathlib
import shutil
import sys

import torch
import torchvision
from torchvision.models.convnext import CNBlockConfig

from photos import Photos

program, work = sys.argv[1], pathlib.Path(sys.argv[2])
TOLERANCE = 1e-5
SIDE, CROP = 72, 64
PREPROCESS = f"imagenet:size={CROP}:resize={SIDE}"


def pooled(name):
    """A network of torchvision without its last layer."""
    net = getattr(torchvision.models, name)()
    last = "fc" if hasattr(net, "fc") else "classifier"
    if last == "classifier":
        net.classifier[-1] = torch.nn.Identity()
    else:
        net.fc = torch.nn.Identity()
    return net


def convnext():
    net = torchvision.models.ConvNeXt([CNBlockConfig(32, 64, 1), CNBlockConfig(64, 128, 2), CNBlockConfig(128, None, 1)])
    net.classifier[-1] = torch.nn.Identity()
    return net


def vit():
    net = torchvision.models.VisionTransformer(image_size=CROP, patch_size=16, num_layers=2, num_heads=4, hidden_dim=64, mlp_dim=128)
    net.heads = torch.nn.Identity()
    return net


def swin():
    net = torchvision.models.SwinTransformer(patch_size=[4, 4], embed_dim=32, depths=[2, 2], num_heads=[2, 4], window_size=[4, 4])
    net.head = torch.nn.Identity()
    return net


class Mobile1(torch.nn.Module):
    """MobileNet v1, whose 1x1 and depthwise convolutions torchvision does not have."""

    def __init__(self):
        super().__init__()
        layers, channels = [torch.nn.Conv2d(3, 16, 3, 2, 1, bias=False), torch.nn.BatchNorm2d(16), torch.nn.ReLU6()], 16
        for out, stride in ((32, 1), (64, 2), (64, 1), (128, 2)):
            layers += [torch.nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False), torch.nn.BatchNorm2d(channels), torch.nn.ReLU6()]
            layers += [torch.nn.Conv2d(channels, out, 1, bias=False), torch.nn.BatchNorm2d(out), torch.nn.ReLU6()]
            channels = out
        self.features = torch.nn.Sequential(*layers)

    def forward(self, x):
        return self.features(x).mean([2, 3])


def calibrated(net):
    """Batch norms with the statistics of some images: with made-up ones nothing of an image would arrive at the end of a deep network."""
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = None  # their mean
    coarse = torch.rand(48, 3, 8, 8) * torch.rand(48, 1, 1, 1) * 4 - 2
    with torch.no_grad():
        net.train()(torch.nn.functional.interpolate(coarse, CROP, mode="bilinear"))
    return net.eval()


shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
torch.manual_seed(1)
torch.set_num_threads(2)
photos = Photos(program, work, SIDE, CROP)
FREE = {"dynamic_axes": {"images": {0: "n"}, "features": {0: "n"}}}
for what, net, options in (("resnet18", pooled("resnet18"), {"opset_version": 9}),
                           ("mobilenet v1", Mobile1(), {"opset_version": 10}),
                           ("mobilenet_v2", pooled("mobilenet_v2"), {"opset_version": 11, **FREE}),
                           ("mobilenet_v3_small", pooled("mobilenet_v3_small"), {"opset_version": 14}),
                           ("efficientnet_b0", pooled("efficientnet_b0"), {"opset_version": 13, "do_constant_folding": False}),
                           ("convnext", convnext(), {"opset_version": 16, **FREE}),
                           ("vision transformer, one image", vit(), {"opset_version": 12}),
                           ("vision transformer, any batch", vit(), {"opset_version": 14, **FREE}),
                           ("swin, one image", swin(), {"opset_version": 13}),
                           ("swin, any batch", swin(), {"opset_version": 16, **FREE})):
    net = calibrated(net)
    torch.onnx.export(net, torch.rand(1, 3, CROP, CROP), str(work / "encoder.onnx"), input_names=["images"], output_names=["features"], **options)
    photos.compare(what, net, photos.by_protocom("encoder.onnx", "--preprocess", PREPROCESS), TOLERANCE)
