#!/usr/bin/env python3
"""Expected features of timm's and open_clip's image encoders, and of DINOv3, with made-up weights, from the libraries themselves.

    tests/golden/checkpoints.py > tests/golden/checkpoints.json

Needs PyTorch, timm (1.0.20), open_clip and transformers (4.56). Weights are those of tests/golden/made_up.py.
"""
import json
import re
import sys

import open_clip
import timm
import torch
import transformers

from made_up import images, made_up, normalised

torch.set_num_threads(1)
timm.layers.set_fused_attn(False)
VIT = {"img_size": 32, "patch_size": 8, "embed_dim": 128, "depth": 2, "num_heads": 2, "mlp_ratio": 2}
PLAIN = {name: value for name, value in VIT.items() if name != "mlp_ratio"}
STATED = {"input_size": [3, 32, 32], "interpolation": "bicubic", "crop_pct": 1.0, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}


def of_timm(architecture, said=None, classes=0, **sizes):
    net = timm.create_model(architecture, **{**sizes, **(said or {})}, num_classes=classes)
    config = {"architecture": architecture, "num_classes": classes, **(said or {}), "pretrained_cfg": STATED}
    return 32, net, lambda x: net.forward_head(net.forward_features(x), pre_logits=True), {"config.json": config}


def of_open_clip(quick_gelu, **tower):
    vision = {"image_size": 32, "layers": 2, "width": 128, "patch_size": 8, **tower}
    net = open_clip.CLIP(24, vision, {"context_length": 4, "vocab_size": 7, "width": 32, "heads": 2, "layers": 1}, quick_gelu=quick_gelu)
    config = {"model_cfg": {"embed_dim": 24, "vision_cfg": vision, "text_cfg": {}, "quick_gelu": quick_gelu},
              "preprocess_cfg": {"mean": STATED["mean"], "std": STATED["std"], "interpolation": "bicubic", "resize_mode": "squash"}}
    return 32, net, net.encode_image, {"open_clip_config.json": config}


def of_dinov3(size, **more):
    config = transformers.DINOv3ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8, num_register_tokens=4, **more)
    net = transformers.DINOv3ViTModel(config)
    images_of = {"size": {"height": size, "width": size}, "image_mean": STATED["mean"], "image_std": STATED["std"]}
    stated = {k: v for k, v in config.to_dict().items() if k in ("hidden_size", "num_attention_heads", "intermediate_size", "patch_size", "layer_norm_eps", "hidden_act", "rope_theta")}
    return size, net, lambda x: net(x).pooler_output, {"config.json": {"model_type": "dinov3_vit", **stated}, "preprocessor_config.json": images_of}


NETWORKS = {
    "timm-clip": lambda: of_timm("vit_base_patch16_clip_224", classes=5, **VIT),
    "timm-clip-quickgelu": lambda: of_timm("vit_base_patch16_clip_quickgelu_224", **VIT),
    "timm-siglip": lambda: of_timm("vit_base_patch16_siglip_224", **VIT),
    "timm-siglip-of-patches-of-32": lambda: of_timm("vit_base_patch32_siglip_256", **VIT),
    "timm-dinov2-registers": lambda: of_timm("vit_small_patch14_reg4_dinov2", **PLAIN),
    "timm-deit3": lambda: of_timm("deit3_small_patch16_224", classes=5, **PLAIN),
    "timm-dinov3": lambda: of_timm("vit_small_patch16_dinov3", **VIT),
    "timm-dinov3-token": lambda: of_timm("vit_small_patch16_dinov3", said={"global_pool": "token"}, **VIT),
    "timm-convnext": lambda: of_timm("convnext_tiny", classes=5, depths=(1, 1, 2, 1), dims=(8, 16, 24, 32)),
    "timm-convnextv2-atto": lambda: of_timm("convnextv2_atto", depths=(1, 1, 2, 1), dims=(8, 16, 24, 32)),
    "open_clip": lambda: of_open_clip(False),
    "open_clip-quickgelu": lambda: of_open_clip(True, head_width=32),
    "dinov3": lambda: of_dinov3(32),
    "dinov3-gated-of-another-size": lambda: of_dinov3(48, use_gated_mlp=True, hidden_act="silu"),
}


def golden_of(make):
    size, net, answer, files = make()
    net = net.eval()
    state = {name: made_up(name, tuple(value.shape)).float() for name, value in net.state_dict().items() if value.is_floating_point() and value.ndim > 0}
    net.load_state_dict(state, strict=False)
    with torch.no_grad():
        features = answer(normalised(images(size)))
    step = max(1, features.shape[1] // 16)
    shapes = {name: list(value.shape) for name, value in state.items()}
    return {"size": size, "dim": features.shape[1], "step": step, "files": files, "shapes": shapes,
            "features": [[float(f"{v:.7g}") for v in row[::step].tolist()] for row in features]}


def main():
    golden = {}
    for name, make in NETWORKS.items():
        print(name, file=sys.stderr)
        golden[name] = golden_of(make)
    text = json.dumps(golden, separators=(",", ":"))
    sys.stdout.write(re.sub(r'("(?:timm|open_clip|dinov3)[a-z0-9_-]*":\{"size)', r"\n\1", text) + "\n")


main()
