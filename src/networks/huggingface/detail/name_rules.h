#pragma once
#include <vector>

#include "networks/huggingface/detail/network.h"

/// Renaming of tensors from one library to the families of `transformers`.
namespace protocom::huggingface {

/// Replaces the beginning of a tensor's name, up to a dot or its end; "#" matches a number.
struct Rule {
  const char* from;
  const char* to;
};
using Rules = std::vector<Rule>;

/// timm's vision transformers for the family DINOv2.
const Rules& vit_rules();
/// timm's CLIP and SigLIP.
const Rules& clip_rules();
/// open_clip's transformers for the family CLIP.
const Rules& open_clip_rules();
/// timm's DINOv3 and EVA-02.
const Rules& dinov3_rules();
/// timm's ConvNeXt.
const Rules& convnext_rules();
/// timm's BEiT and distilled DeiT.
const Rules& beit_rules();
/// timm's Swin, both versions.
const Rules& swin_rules();
/// timm's MobileViT.
const Rules& mobilevit_rules();
/// timm's Hiera, with its blocks as layers of stages.
const Rules& hiera_rules();
/// `transformers`' DINOv3 ConvNeXt for the family ConvNeXt.
const Rules& dinov3_convnext_rules();

/// Renames the tensors by `rules`; the first matching rule counts. Names without a rule stay, for the family to refuse.
Tensors renamed(const Tensors& tensors, const Rules& rules);

}  // namespace protocom::huggingface
