#include "knowledge/useless.h"

#include <map>

#include "base/matrix.h"

namespace protocom {

UselessKnowledge find_useless(const KnowledgeTable& knowledge) {
  UselessKnowledge found;
  const auto rows = matrix_of<float>(knowledge.association);  // [c, a]
  const int64_t classes = rows.rows(), attributes = rows.cols();
  std::map<std::vector<float>, std::vector<std::string>> groups;
  for (int64_t k = 0; k < classes; ++k) {
    const std::string& name = knowledge.classes[static_cast<size_t>(k)];
    std::vector<float> row(rows.row(k).begin(), rows.row(k).end());
    if ((rows.row(k).array() == 0).all())
      found.classes_of_none.push_back(name);
    else
      groups[std::move(row)].push_back(name);
  }
  for (const auto& group : groups) {
    if (group.second.size() > 1) found.equal_classes.push_back(group.second);
  }
  for (int64_t a = 0; a < attributes && classes > 0; ++a) {
    if (!(rows.col(a).array() == rows(0, a)).all()) continue;
    const std::string& name = knowledge.attributes[static_cast<size_t>(a)];
    (rows(0, a) > 0 ? found.attributes_of_all : found.attributes_of_none).push_back(name);
  }
  return found;
}

std::vector<int64_t> class_counts(const KnowledgeTable& knowledge) {
  const auto rows = matrix_of<float>(knowledge.association);  // [c, a]
  std::vector<int64_t> counts;
  for (int64_t a = 0; a < rows.cols(); ++a) counts.push_back((rows.col(a).array() > 0).count());
  return counts;
}

}  // namespace protocom
