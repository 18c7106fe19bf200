#include "recognizer/detail/enrolled_images.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/matrix.h"
#include "fewshot/row_length.h"

namespace protocom {
namespace {

/// Stacks one vector of each class. float32 [c, size]
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

void check_features(const StoredClass& own, int64_t dim) {
  const Array& features = own.features;
  if (features.dim() != 2 || features.size(0) != own.count || features.size(1) != dim)
    fail("class '{}': expected features [{}, {}], found [{}]", own.name, own.count, dim,
         fmt::join(features.shape(), ", "));
}

}  // namespace

EnrolledClasses with_classes(const EnrolledClasses& all, std::vector<StoredClass> classes) {
  return {all.feature_dim, all.attributes, std::move(classes), all.unlabelled};
}

TaskImages supports_of(const EnrolledClasses& enrolled, int64_t begin, int64_t end) {
  int64_t count = 0;
  for (int64_t k = begin; k < end; ++k) {
    const StoredClass& own = enrolled.classes[static_cast<size_t>(k)];
    check_features(own, enrolled.feature_dim);
    count += own.count;
  }
  TaskImages images;
  images.classes = end - begin;
  images.width = enrolled.feature_dim;
  images.rows = FloatMatrix::Zero(count, padded_length(images.width));
  int64_t next = 0;
  for (int64_t k = begin; k < end; ++k) {
    const StoredClass& own = enrolled.classes[static_cast<size_t>(k)];
    images.rows.block(next, 0, own.count, images.width) = matrix_of<float>(own.features);
    next += own.count;
    images.label.resize(static_cast<size_t>(next), k - begin);
  }
  images.numbers.resize(static_cast<size_t>(images.classes));
  std::iota(images.numbers.begin(), images.numbers.end(), begin);
  return images;
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
