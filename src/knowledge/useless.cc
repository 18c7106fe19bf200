#include "knowledge/useless.h"

#include <ATen/ATen.h>

#include <map>

namespace protocom {

UselessKnowledge find_useless(const KnowledgeTable& knowledge) {
  UselessKnowledge found;
  const at::Tensor rows = knowledge.association.contiguous();  // [c, a]
  const float* cells = rows.data_ptr<float>();                 // null without attributes
  const int64_t classes = rows.size(0), attributes = rows.size(1);
  std::map<std::vector<float>, std::vector<std::string>> groups;
  for (int64_t k = 0; k < classes; ++k) {
    const std::string& name = knowledge.classes[static_cast<size_t>(k)];
    std::vector<float> row(cells + k * attributes, cells + (k + 1) * attributes);
    if (rows[k].count_nonzero().item<int64_t>() == 0)
      found.classes_of_none.push_back(name);
    else
      groups[std::move(row)].push_back(name);
  }
  for (const auto& group : groups) {
    if (group.second.size() > 1) found.equal_classes.push_back(group.second);
  }
  for (int64_t a = 0; a < attributes && classes > 0; ++a) {
    const at::Tensor column = rows.select(1, a);
    if (!column.eq(column[0]).all().item<bool>()) continue;
    const std::string& name = knowledge.attributes[static_cast<size_t>(a)];
    (cells[a] > 0 ? found.attributes_of_all : found.attributes_of_none).push_back(name);
  }
  return found;
}

std::vector<int64_t> class_counts(const KnowledgeTable& knowledge) {
  const at::Tensor counts = knowledge.association.gt(0).sum(0).contiguous();  // [a]
  return {counts.data_ptr<int64_t>(), counts.data_ptr<int64_t>() + counts.numel()};
}

}  // namespace protocom
