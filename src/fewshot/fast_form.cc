#include "fewshot/detail/fast_form.h"

#include <ATen/core/Tensor.h>

namespace protocom {

std::shared_ptr<const MappedTable> FastForms::mapped(const at::Tensor& table,
                                                     std::shared_ptr<const FeatureTransform> map) {
  if (map == nullptr) return nullptr;
  for (const auto& known : mapped_) {
    if (known->table().is_same(table) && known->map().same_as(*map)) return known;
  }
  return mapped_.emplace_back(std::make_shared<MappedTable>(table, std::move(map)));
}

}  // namespace protocom
