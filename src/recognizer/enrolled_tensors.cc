#include "recognizer/detail/enrolled_tensors.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace protocom {
namespace {

/// A vector of each class. float32 [c, size]
Array vectors_of(const EnrolledClasses& enrolled, Array ClassDescription::*field) {
  const int64_t numbers = (enrolled.classes.front().description.*field).numel();
  Array all = Array::uninitialised({static_cast<int64_t>(enrolled.classes.size()), numbers});
  auto* next = all.mutable_data<float>();
  for (const StoredClass& stored_class : enrolled.classes) {
    const Array vector = (stored_class.description.*field).to(NumberType::kFloat32);
    if (vector.numel() != numbers)
      fail("class '{}': expected {} numbers, found {}", stored_class.name, numbers, vector.numel());
    next = std::copy_n(vector.data<float>(), numbers, next);
  }
  return all;
}

/// The images of classes `begin` to `end`, and of how many they are.
EpisodeBatch images_of(const EnrolledClasses& enrolled, int64_t begin, int64_t end) {
  const auto first = enrolled.classes.begin() + begin, last = enrolled.classes.begin() + end;
  int64_t most = 0;
  for (auto item = first; item != last; ++item) {
    if (item->features.dim() != 2 || item->features.size(0) != item->count ||
        item->features.size(1) != enrolled.feature_dim)
      fail("class '{}': {} images of {} numbers, found features of the shape [{}]", item->name, item->count,
           enrolled.feature_dim, fmt::join(item->features.shape(), ", "));
    most = std::max(most, item->count);
  }
  EpisodeBatch batch;
  batch.support = at::zeros({1, end - begin, most, enrolled.feature_dim});
  batch.support_mask = at::zeros({1, end - begin, most});
  auto* support = batch.support.data_ptr<float>();
  auto* mask = batch.support_mask.data_ptr<float>();
  for (auto item = first; item != last; ++item) {
    std::copy_n(item->features.data<float>(), item->features.numel(), support);
    std::fill_n(mask, item->count, 1.0F);
    support += most * enrolled.feature_dim;
    mask += most;
  }
  return batch;
}

}  // namespace

EnrolledClasses with_classes(const EnrolledClasses& all, std::vector<StoredClass> classes) {
  return {all.feature_dim, all.attributes, std::move(classes), all.unlabelled};
}

EpisodeBatch supports_of(const EnrolledClasses& enrolled, int64_t begin, int64_t end) {
  EpisodeBatch batch = images_of(enrolled, begin, end);
  batch.classes = at::arange(begin, end, at::kLong).unsqueeze(0);  // [1, n]
  batch.query = at::zeros({1, 0, enrolled.feature_dim});
  return batch;
}

KnowledgeTable table_of(const EnrolledClasses& enrolled) {
  KnowledgeTable table;
  for (const StoredClass& stored_class : enrolled.classes) table.classes.push_back(stored_class.name);
  table.attributes = enrolled.attributes;
  table.association = vectors_of(enrolled, &ClassDescription::association);
  table.class_embedding = vectors_of(enrolled, &ClassDescription::embedding);
  table.attribute_embedding =
      Array::zeros({static_cast<int64_t>(enrolled.attributes.size()), table.class_embedding.size(1)});
  return table;
}

}  // namespace protocom
