#pragma once
#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "datasets/feature_set.h"
#include "knowledge/knowledge.h"
#include "tensors/tensors.h"

namespace protocom::testing {

/// A world in which knowledge helps by construction: attribute a moves a feature along direction v_a; a class is the
/// sum of its attributes; an image shows each of them only with probability `visible`, plus noise.
struct ToyWorld {
  FeatureSet features;
  Knowledge knowledge;
};

struct ToyWorldOptions {
  int64_t base = 100;
  int64_t val = 6;
  int64_t novel = 6;
  int64_t images = 30;
  int64_t dim = 24;
  int64_t attributes = 12;
  double visible = 0.4;
  double noise = 0.15;
};

inline ToyWorld toy_world(const ToyWorldOptions& options = {}) {
  auto generator = at::detail::createCPUGenerator(99);
  const int64_t classes = options.base + options.val + options.novel;
  const at::Tensor direction = at::randn({options.attributes, options.dim}, generator);
  const at::Tensor chosen =
      at::rand({classes, options.attributes}, generator).argsort(int64_t{1}).lt(4).to(at::kFloat);  // 4 each
  ToyWorld world;
  std::vector<at::Tensor> rows;
  for (int64_t k = 0; k < classes; ++k) {
    const at::Tensor shown =
        at::rand({options.images, options.attributes}, generator).lt(options.visible).to(at::kFloat);
    rows.push_back(0.25 * (at::mm(shown * chosen[k], direction) + 1.0 +
                           options.noise * at::randn({options.images, options.dim}, generator)));  // a backbone's scale
    world.features.class_names.push_back("class" + std::to_string(k));
    world.features.class_split.push_back(k < options.base                 ? Split::kBase
                                         : k < options.base + options.val ? Split::kVal
                                                                          : Split::kNovel);
  }
  world.features.features = array_of(at::cat(rows));
  world.features.labels = numbers_of(at::arange(classes).repeat_interleave(options.images));
  for (int64_t i = 0; i < classes * options.images; ++i)
    world.features.image_ids.push_back("image" + std::to_string(i));
  world.knowledge.classes = world.features.class_names;
  for (int64_t a = 0; a < options.attributes; ++a) world.knowledge.attributes.push_back("part" + std::to_string(a));
  world.knowledge.association = array_of(chosen);
  world.knowledge.class_embedding = array_of(at::mm(chosen, at::randn({options.attributes, 8}, generator)));
  world.knowledge.attribute_embedding = array_of(at::randn({options.attributes, 8}, generator));
  return world;
}

}  // namespace protocom::testing
