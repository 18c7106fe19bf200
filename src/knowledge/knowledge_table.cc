#include "knowledge/knowledge_table.h"

#include <algorithm>
#include <utility>

namespace protocom {
namespace {

int64_t index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : found - names.begin();
}

}  // namespace

int64_t KnowledgeTable::class_index(const std::string& name) const { return index_of(classes, name); }

int64_t KnowledgeTable::attribute_index(const std::string& name) const { return index_of(attributes, name); }

KnowledgeTable KnowledgeTable::rows(const std::vector<int64_t>& which) const {
  const auto of = [&](const Array& all) { return all.defined() ? all.gathered(which) : all; };
  std::vector<std::string> names;
  for (size_t i = 0; i < which.size() && !classes.empty(); ++i) names.push_back(classes[static_cast<size_t>(which[i])]);
  return {names, attributes, of(association), of(class_embedding), attribute_embedding, embedding_sources};
}

KnowledgeTable unnamed_table(Array association, Array class_embedding, std::vector<int64_t> embedding_sources) {
  return {{}, {}, std::move(association), std::move(class_embedding), {}, std::move(embedding_sources)};
}

}  // namespace protocom
