#pragma once

namespace protocom {

/// Names that exporters give an image's feature, the most certain first.
inline constexpr const char* kFeatureNames[] = {"image_embeds",  "image_embeddings", "image_features",
                                                "pooler_output", "embeddings",       "embedding",
                                                "features",      "pooled",           "feature"};

}  // namespace protocom
