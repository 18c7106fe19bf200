#include "protocom/core/knowledge_table.h"

#include <algorithm>

namespace protocom {
namespace {

int64_t index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : found - names.begin();
}

}  // namespace

int64_t KnowledgeTable::class_index(const std::string& name) const { return index_of(classes, name); }

int64_t KnowledgeTable::attribute_index(const std::string& name) const { return index_of(attributes, name); }

}  // namespace protocom
