#include "serve/enrolled_tensors.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "protocom/core/error.h"

namespace protocom {
namespace {

/// A vector of each class; copied by hand, as there may be thousands. float32 [c, size]
at::Tensor vectors_of(const EnrolledClasses& enrolled, const at::Tensor& (*field)(const StoredClass&)) {
  at::Tensor all = at::empty({static_cast<int64_t>(enrolled.classes.size()), field(enrolled.classes.front()).numel()});
  auto* next = all.data_ptr<float>();
  for (const StoredClass& one : enrolled.classes) {
    const at::Tensor vector = field(one).to(at::kFloat).contiguous();
    if (vector.numel() != all.size(1))
      fail("class '{}': expected {} numbers, found {}", one.name, all.size(1), vector.numel());
    next = std::copy_n(vector.data_ptr<float>(), vector.numel(), next);
  }
  return all;
}

/// The images of classes `begin` to `end`, and of how many they are.
EpisodeBatch images_of(const EnrolledClasses& enrolled, int64_t begin, int64_t end) {
  const auto first = enrolled.classes.begin() + begin, last = enrolled.classes.begin() + end;
  int64_t most = 0;
  for (auto one = first; one != last; ++one) {
    if (one->features.dim() != 2 || one->features.size(0) != one->count ||
        one->features.size(1) != enrolled.feature_dim)
      fail("class '{}': {} images of {} numbers, found features of the shape [{}]", one->name, one->count,
           enrolled.feature_dim, fmt::join(one->features.sizes(), ", "));
    most = std::max(most, one->count);
  }
  EpisodeBatch batch;
  batch.support = at::zeros({1, end - begin, most, enrolled.feature_dim});
  batch.support_mask = at::zeros({1, end - begin, most});
  auto* support = batch.support.data_ptr<float>();
  auto* mask = batch.support_mask.data_ptr<float>();
  for (auto one = first; one != last; ++one) {
    const at::Tensor features = one->features.to(at::kFloat).contiguous();
    std::copy_n(features.data_ptr<float>(), features.numel(), support);
    std::fill_n(mask, one->count, 1.0F);
    support += most * enrolled.feature_dim;
    mask += most;
  }
  return batch;
}

}  // namespace

EnrolledClasses with_classes(const EnrolledClasses& all, std::vector<StoredClass> classes) {
  return {all.feature_dim, all.attributes, std::move(classes)};
}

EpisodeBatch supports_of(const EnrolledClasses& enrolled, int64_t begin, int64_t end) {
  EpisodeBatch batch = images_of(enrolled, begin, end);
  batch.classes = at::arange(begin, end, at::kLong).unsqueeze(0);  // [1, n]
  batch.query = at::zeros({1, 0, enrolled.feature_dim});
  return batch;
}

KnowledgeTable table_of(const EnrolledClasses& enrolled) {
  KnowledgeTable table;
  for (const StoredClass& one : enrolled.classes) table.classes.push_back(one.name);
  table.attributes = enrolled.attributes;
  table.association =
      vectors_of(enrolled, [](const StoredClass& one) -> const at::Tensor& { return one.description.association; });
  table.class_embedding =
      vectors_of(enrolled, [](const StoredClass& one) -> const at::Tensor& { return one.description.embedding; });
  table.attribute_embedding =
      at::zeros({static_cast<int64_t>(enrolled.attributes.size()), table.class_embedding.size(1)});
  return table;
}

}  // namespace protocom
