#!/usr/bin/env python3
"""Expected features of timm's, open_clip's and newer image encoders of transformers, with made-up weights, from the libraries themselves.

    tests/golden/checkpoints.py [NAME ...] > tests/golden/checkpoints.json

With names, only those are computed again. Needs PyTorch, timm, open_clip and transformers: the last block of names was computed with timm 1.0.31 and
transformers 5.24, the others with 1.0.20 and 4.56. Weights are those of tests/golden/made_up.py, by the names that tensors have in files.
"""
import json
import pathlib
import re
import sys
import tempfile

import safetensors.torch

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
    size = 32 if architecture.startswith(("vit", "deit", "beit", "convnext", "eva02")) else 64
    config = {"architecture": architecture, "num_classes": classes, **(said or {}), "pretrained_cfg": {**STATED, "input_size": [3, size, size]}}
    return size, net, lambda x: net.forward_head(net.forward_features(x), pre_logits=True), {"config.json": config}


def of_open_clip(quick_gelu, **tower):
    vision = {"image_size": 32, "layers": 2, "width": 128, "patch_size": 8, **tower}
    net = open_clip.CLIP(24, vision, {"context_length": 4, "vocab_size": 7, "width": 32, "heads": 2, "layers": 1}, quick_gelu=quick_gelu)
    config = {"model_cfg": {"embed_dim": 24, "vision_cfg": vision, "text_cfg": {}, "quick_gelu": quick_gelu},
              "preprocess_cfg": {"mean": STATED["mean"], "std": STATED["std"], "interpolation": "bicubic", "resize_mode": "squash"}}
    return vision["image_size"], net, net.encode_image, {"open_clip_config.json": config}


def of_dinov3(size, **more):
    config = transformers.DINOv3ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8, num_register_tokens=4, **more)
    net = transformers.DINOv3ViTModel(config)
    images_of = {"size": {"height": size, "width": size}, "image_mean": STATED["mean"], "image_std": STATED["std"]}
    stated = {k: v for k, v in config.to_dict().items() if k in ("hidden_size", "num_attention_heads", "intermediate_size", "patch_size", "layer_norm_eps", "hidden_act", "rope_theta")}
    return size, net, lambda x: net(x).pooler_output, {"config.json": {"model_type": "dinov3_vit", **stated}, "preprocessor_config.json": images_of}


def of_transformers(net, answer=lambda out: out.pooler_output, size=64):
    """What save_pretrained writes, but for the size and normalisation of images."""
    images_of = {"size": {"height": size, "width": size}, "image_mean": STATED["mean"], "image_std": STATED["std"]}
    return size, net, lambda x: answer(net(x)).flatten(1), {"config.json": json.loads(net.config.to_json_string(use_diff=False)), "preprocessor_config.json": images_of}


T = transformers
HF = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 32, "patch_size": 8}
STAGES = {"hidden_sizes": [16, 32, 48, 64], "depths": [1, 1, 2, 1]}
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
    "timm-dinov2-giant": lambda: of_timm("vit_giant_patch14_reg4_dinov2", **PLAIN),
    "timm-beit": lambda: of_timm("beit_base_patch16_224", classes=5, **PLAIN),
    "timm-swin": lambda: of_timm("swin_tiny_patch4_window7_224", classes=5, img_size=64, window_size=4, embed_dim=16, depths=(2, 2, 1, 1), num_heads=(1, 2, 4, 8)),
    "timm-tinynet": lambda: of_timm("tinynet_e", classes=5),
    "timm-mobilenetv3-as-tensorflow": lambda: of_timm("tf_mobilenetv3_small_075"),
    "timm-mobilenetv4": lambda: of_timm("mobilenetv4_conv_small_035"),
    "timm-efficientnetv2-as-tensorflow": lambda: of_timm("tf_efficientnetv2_b0"),
    "timm-regnety": lambda: of_timm("regnety_002", classes=5),
    "timm-seresnext-d": lambda: of_timm("seresnext26d_32x4d", classes=5, layers=(1, 2, 1, 1)),
    "beit": lambda: of_transformers(T.BeitModel(T.BeitConfig(**HF, use_relative_position_bias=True)), size=32),
    "data2vec": lambda: of_transformers(T.Data2VecVisionModel(T.Data2VecVisionConfig(**HF, use_shared_relative_position_bias=True, use_mean_pooling=False), add_pooling_layer=True), size=32),
    "deit-distilled": lambda: of_transformers(T.DeiTModel(T.DeiTConfig(**HF), add_pooling_layer=False), lambda out: out.last_hidden_state[:, 0], 32),
    "dinov2-giant": lambda: of_transformers(T.Dinov2Model(T.Dinov2Config(**HF, use_swiglu_ffn=True)), size=32),
    "dinov3-convnext": lambda: of_transformers(T.DINOv3ConvNextModel(T.DINOv3ConvNextConfig(**STAGES))),
    "efficientnet": lambda: of_transformers(T.EfficientNetModel(T.EfficientNetConfig(width_coefficient=0.25, depth_coefficient=0.5, hidden_dim=320, depthwise_padding=[3]))),
    "metaclip-2": lambda: of_transformers(T.MetaClip2VisionModelWithProjection(T.MetaClip2VisionConfig(**HF, projection_dim=24)), lambda out: out.image_embeds, 32),
    "mobilenet-v1": lambda: of_transformers(T.MobileNetV1Model(T.MobileNetV1Config(depth_multiplier=0.25))),
    "regnet-x": lambda: of_transformers(T.RegNetModel(T.RegNetConfig(**STAGES, embedding_size=16, groups_width=8, layer_type="x"))),
    "regnet-y": lambda: of_transformers(T.RegNetModel(T.RegNetConfig(**STAGES, embedding_size=16, groups_width=8, layer_type="y"))),
    "timm-eva02": lambda: of_timm("eva02_tiny_patch14_224", classes=5, **PLAIN),
    "timm-eva02-base": lambda: of_timm("eva02_base_patch14_224", **PLAIN),
    "timm-eva02-clip": lambda: of_timm("eva02_base_patch16_clip_224", classes=5, **PLAIN),
    "timm-deit-distilled": lambda: of_timm("deit_tiny_distilled_patch16_224", classes=5, **VIT),
    "timm-swinv2": lambda: of_timm("swinv2_tiny_window8_256", classes=5, img_size=64, embed_dim=16, depths=(2, 2, 1, 1), num_heads=(1, 2, 4, 8)),
    "timm-hiera": lambda: of_timm("hiera_tiny_224", classes=5, img_size=(64, 64), stages=(1, 2, 2, 1)),
    "timm-mobilevit": lambda: of_timm("mobilevit_xxs", classes=5),
    "timm-ecaresnet": lambda: of_timm("ecaresnet26t", classes=5, layers=(1, 2, 1, 1)),
    "open_clip-resnet": lambda: of_open_clip(False, image_size=64, layers=[1, 2, 1, 1], width=16),
    "open_clip-eva02": lambda: of_open_clip(False, image_size=224, timm_model_name="eva02_tiny_patch14_224", timm_pool="avg", timm_proj=""),
    "swinv2": lambda: of_transformers(T.Swinv2Model(T.Swinv2Config(image_size=64, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4, pretrained_window_sizes=[6, 0]))),
    "hiera": lambda: of_transformers(T.HieraModel(T.HieraConfig(image_size=[64, 64], embed_dim=16, depths=[1, 2, 2, 1], num_heads=[1, 2, 4, 8]))),
    "mobilevit": lambda: of_transformers(T.MobileViTModel(T.MobileViTConfig(image_size=96, hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 64])), size=96),
    "swin": lambda: of_transformers(T.SwinModel(T.SwinConfig(image_size=72, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)), size=72),
}


def with_made_up_weights(net):
    """Names and shapes as in a file of the network, which then has those weights."""
    def made(state):
        return {name: made_up(name, tuple(value.shape)).float().contiguous() for name, value in state.items() if value.is_floating_point() and value.ndim > 0}
    if not isinstance(net, transformers.PreTrainedModel):
        state = made(net.state_dict())
        net.load_state_dict(state, strict=False)
        return net.eval(), state
    with tempfile.TemporaryDirectory() as folder:
        net.save_pretrained(folder)
        file = pathlib.Path(folder) / "model.safetensors"
        state = made(safetensors.torch.load_file(file))
        safetensors.torch.save_file(state, file, metadata={"format": "pt"})
        net.load_state_dict(type(net).from_pretrained(folder).state_dict(), strict=False)
        return net.eval(), state


def golden_of(make):
    size, net, answer, files = make()
    net, state = with_made_up_weights(net)
    with torch.no_grad():
        features = answer(normalised(images(size)))
    step = max(1, features.shape[1] // 16)
    shapes = {name: list(value.shape) for name, value in state.items()}
    return {"size": size, "dim": features.shape[1], "step": step, "files": files, "shapes": shapes,
            "features": [[float(f"{v:.7g}") for v in row[::step].tolist()] for row in features]}


def main():
    wanted = sys.argv[1:] or list(NETWORKS)
    kept = {} if len(sys.argv) == 1 else json.loads((pathlib.Path(__file__).parent / "checkpoints.json").read_text())
    golden = {}
    for name in NETWORKS:
        print(name, file=sys.stderr)
        golden[name] = golden_of(NETWORKS[name]) if name in wanted else kept[name]
    text = json.dumps(golden, separators=(",", ":"))
    sys.stdout.write(re.sub(r'("[a-z0-9_-]*":\{"size":\d)', r"\n\1", text) + "\n")


main()
