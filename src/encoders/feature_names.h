#pragma once

namespace protocom {

/// What exporters call an image's feature, the most certain name first.
inline constexpr const char* kFeatureNames[] = {"image_embeds",  "image_embeddings", "image_features",
                                                "pooler_output", "embeddings",       "embedding",
                                                "features",      "pooled",           "feature"};

}  // namespace protocom
