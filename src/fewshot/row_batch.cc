#include "fewshot/row_batch.h"

namespace protocom {

RowBatch part_of(const RowBatch& rows, int64_t begin, int64_t end) {
  RowBatch part = rows;
  const auto cut = [&](auto& list) {
    const auto each = static_cast<int64_t>(list.size()) / rows.size();
    list = {list.begin() + begin * each, list.begin() + end * each};
  };
  for (auto* list : {&part.classes, &part.support, &part.query, &part.unlabelled}) cut(*list);
  cut(part.seed);
  cut(part.shares);
  return part;
}

}  // namespace protocom
