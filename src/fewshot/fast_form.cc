#include "fewshot/fast_form.h"

#include <algorithm>

namespace protocom {
namespace {

bool map_alike(const FeatureTransform* one, const FeatureTransform* other) {
  return one == nullptr || other == nullptr ? one == other : one->same_as(*other);
}

Array maps_as_rows(const Array& maps) {
  return maps.defined() ? maps.reshaped({maps.size(0), maps.numel() / std::max<int64_t>(maps.size(0), 1)}) : maps;
}

}  // namespace

FastForms::FastForms(const MethodContext& context, const Array& table)
    : context_(context), table_(table), maps_(maps_as_rows(context.maps)) {}

std::shared_ptr<const MappedTable> FastForms::mapped(const Array& table, std::shared_ptr<const FeatureTransform> map) {
  for (const auto& known : mapped_) {
    if (known->table().raw() == table.raw() && map_alike(known->map(), map.get())) return known;
  }
  return mapped_.emplace_back(std::make_shared<MappedTable>(table, std::move(map)));
}

}  // namespace protocom
