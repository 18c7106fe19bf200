#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eval/analysis_sweep.h"
#include "knowledge/knowledge.h"

namespace protocom {

/// The weight of one attribute of a class when the network completed prototypes made from single images.
struct AttributeUse {
  std::string attribute;      ///< its name in the knowledge
  std::string title;          ///< display name; the name if there is none
  double association = 0.0;   ///< R, in [0, 1]
  double alpha = 0.0;         ///< equation 10, mean over images; without a softmax, so it may be negative
  double alpha_std = 0.0;     ///< over images
  double contribution = 0.0;  ///< |alpha z'_a| / |z'_k|, mean over images: 1 weighs as much as the image's own code
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AttributeUse, attribute, title, association, alpha, alpha_std, contribution)

/// The attributes of a class, by contribution, largest first; empty for a class without attributes.
struct ClassAttention {
  std::string class_name;
  std::string title;
  int64_t images = 0;
  std::vector<AttributeUse> attributes;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClassAttention, class_name, title, images, attributes)

/// Computes the attention for every class of a split, over all of its images, each used as a 1-shot prototype.
/// `knowledge` provides the titles.
std::vector<ClassAttention> analyse_attention(const AnalysisInputs& inputs, Split split, const Knowledge& knowledge);

}  // namespace protocom
