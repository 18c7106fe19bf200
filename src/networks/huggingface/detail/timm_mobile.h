#pragma once
#include <string>

namespace protocom::huggingface {

/// Whether timm's network of that name consists of inverted residuals that make_timm_mobile() reads: MobileNet v1 to
/// v4, MnasNet, TinyNet, EfficientNet v1, v2 and Lite.
bool is_timm_mobile(const std::string& architecture);

}  // namespace protocom::huggingface
