#!/usr/bin/env python3
"""Expected features of Hugging Face's image encoders with made-up weights, from `transformers` itself.

    tests/golden/huggingface.py > tests/golden/huggingface.json

Needs PyTorch and transformers (4.40; DINOv2 with registers from 4.48 on, else its registers are put into DINOv2 here). A weight is a function of its
place and of its name's length (tests/golden/made_up.py), so that no file of weights is needed: the names and shapes are listed beside the features.
"""
import json
import sys

import torch
import transformers

from made_up import images, made_up, normalised

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}


class DinoWithRegisters(transformers.Dinov2Model):
    """What `Dinov2WithRegistersModel` computes: registers behind the class token, positions for other grids with antialiasing."""

    def __init__(self, config):
        super().__init__(config)
        self.embeddings.register_tokens = torch.nn.Parameter(torch.zeros(1, 4, config.hidden_size))

    def forward(self, pixel_values):
        e = self.embeddings
        x = e.patch_embeddings(pixel_values)
        side, grid = int(x.shape[1] ** 0.5), int((e.position_embeddings.shape[1] - 1) ** 0.5)
        own, old = e.position_embeddings[:, :1], e.position_embeddings[:, 1:]
        old = old.reshape(1, grid, grid, -1).permute(0, 3, 1, 2)
        if side != grid:
            old = torch.nn.functional.interpolate(old, size=(side, side), mode="bicubic", align_corners=False, antialias=True)
        x = torch.cat((e.cls_token.expand(len(x), -1, -1), x), 1) + torch.cat((own, old.permute(0, 2, 3, 1).view(1, side * side, -1)), 1)
        x = torch.cat((x[:, :1], e.register_tokens.expand(len(x), -1, -1), x[:, 1:]), 1)
        return self.layernorm(self.encoder(x)[0])[:, 0]


def networks():
    """Name, size of the images, network, its answer, what config.json says besides."""
    pooled = lambda net, x: net(x).pooler_output.flatten(1)
    first = lambda net, x: net(x).last_hidden_state[:, 0]
    t = transformers
    yield "vit", 32, t.ViTModel(t.ViTConfig(**SMALL, image_size=32, patch_size=8), add_pooling_layer=False), first
    yield "dinov2", 28, t.Dinov2Model(t.Dinov2Config(**SMALL, image_size=28, patch_size=7)), pooled
    yield "dinov2-resized", 42, t.Dinov2Model(t.Dinov2Config(**SMALL, image_size=28, patch_size=7)), pooled
    yield "dinov2_with_registers", 42, DinoWithRegisters(t.Dinov2Config(**SMALL, image_size=28, patch_size=7)), lambda net, x: net(x)
    yield "clip_vision_model", 32, t.CLIPVisionModel(t.CLIPVisionConfig(**SMALL, image_size=32, patch_size=8)), pooled
    yield "clip-projected", 32, t.CLIPVisionModelWithProjection(t.CLIPVisionConfig(**SMALL, image_size=32, patch_size=8, projection_dim=24)), lambda net, x: net(x).image_embeds
    yield "siglip_vision_model", 32, t.SiglipVisionModel(t.SiglipVisionConfig(**SMALL, image_size=32, patch_size=8)), pooled
    sizes = {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 2, 1]}
    yield "convnext", 64, t.ConvNextModel(t.ConvNextConfig(**sizes)), pooled
    yield "convnextv2", 64, t.ConvNextV2Model(t.ConvNextV2Config(**sizes)), pooled
    yield "resnet-basic", 64, t.ResNetModel(t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 2, 1, 1], layer_type="basic")), pooled
    yield "resnet-bottleneck", 64, t.ResNetModel(t.ResNetConfig(embedding_size=8, hidden_sizes=[16, 32, 48, 64], depths=[1, 2, 1, 1])), pooled
    yield "mobilenet_v2", 64, t.MobileNetV2Model(t.MobileNetV2Config(depth_multiplier=0.25)), pooled


golden = {}
for name, size, net, answer in networks():
    state = {key: value for key, value in net.state_dict().items() if value.is_floating_point()}
    with torch.no_grad():
        for key, value in state.items():
            value.copy_(made_up(key, list(value.shape)))
        features = answer(net.eval(), normalised(images(size)))
    config = json.loads(net.config.to_json_string(use_diff=False))
    said = {key: config[key] for key in ("model_type", "hidden_size", "num_attention_heads", "intermediate_size", "patch_size", "layer_norm_eps", "hidden_act", "mlp_ratio",
                                         "embedding_size", "hidden_sizes", "depths", "layer_type", "depth_multiplier", "tf_padding") if key in config}
    if name == "dinov2_with_registers":
        said["model_type"] = name
    step = max(1, features.shape[1] // 16)
    golden[name] = {"size": size, "dim": features.shape[1], "step": step, "config": said, "shapes": {key: list(value.shape) for key, value in state.items()},
                    "features": [[float(f"{v:.7g}") for v in row] for row in features[:, ::step].double().tolist()]}
    print(name, tuple(features.shape), f"{features.std():.3f}", f"{(features[0] - features[1]).abs().max() / features.abs().max():.3f}", file=sys.stderr)
json.dump(golden, sys.stdout, separators=(",", ":"))
print()
