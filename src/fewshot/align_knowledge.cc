#include "fewshot/align_knowledge.h"

#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/log.h"
#include "base/matrix.h"

namespace protocom {
namespace {

constexpr size_t kNamesShown = 10;

/// Returns "a, b, c and 4 more".
std::string list_names(std::vector<std::string> names) {
  const size_t hidden = names.size() > kNamesShown ? names.size() - kNamesShown : 0;
  names.resize(names.size() - hidden);
  const std::string shown = fmt::format("{}", fmt::join(names, ", "));
  return hidden == 0 ? shown : fmt::format("{} and {} more", shown, hidden);
}

/// Returns the index of each name in `known`, -1 for missing names, which are added to `unknown`.
std::vector<int64_t> indices(const std::vector<std::string>& names, const std::vector<std::string>& known,
                             std::vector<std::string>& unknown) {
  std::unordered_map<std::string_view, int64_t> place;
  for (size_t i = 0; i < known.size(); ++i) place.emplace(known[i], static_cast<int64_t>(i));
  std::vector<int64_t> result;
  for (const auto& name : names) {
    const auto found = place.find(name);
    result.push_back(found == place.end() ? -1 : found->second);
    if (found == place.end()) unknown.push_back(name);
  }
  return result;
}

/// Returns these rows of a matrix float32, zeros where the index is -1.
Array rows_or_zero(const Array& matrix, const std::vector<int64_t>& index) {
  const Array given = matrix.to(NumberType::kFloat32);
  Array rows = Array::zeros({static_cast<int64_t>(index.size()), given.size(1)});
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0) continue;
    mutable_matrix_of<float>(rows).row(static_cast<int64_t>(i)) = matrix_of<float>(given).row(index[i]);
  }
  return rows;
}

/// Returns these columns of a matrix float32, zeros where the index is -1.
Array columns_or_zero(const Array& matrix, const std::vector<int64_t>& index) {
  Array columns = Array::zeros({matrix.size(0), static_cast<int64_t>(index.size())});
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0) continue;
    mutable_matrix_of<float>(columns).col(static_cast<int64_t>(i)) = matrix_of<float>(matrix).col(index[i]);
  }
  return columns;
}

}  // namespace

KnowledgeTable align_knowledge(const KnowledgeTable& knowledge, const std::vector<std::string>& class_names,
                               const std::vector<std::string>& attributes) {
  std::vector<std::string> unknown_classes;
  std::vector<std::string> unknown_attributes;
  const std::vector<int64_t> row = indices(class_names, knowledge.classes, unknown_classes);
  const std::vector<int64_t> column = indices(attributes, knowledge.attributes, unknown_attributes);
  if (unknown_classes.size() == class_names.size()) {
    fail(
        "the knowledge has none of the {} classes of the features: the knowledge has '{}', ..., the features have "
        "'{}', ...",
        class_names.size(), knowledge.classes.empty() ? "" : knowledge.classes.front(), class_names.front());
  }
  if (!unknown_classes.empty()) {
    logger().warn("{} classes are not in the knowledge and are used without attributes: {}", unknown_classes.size(),
                  list_names(unknown_classes));
  }
  if (!unknown_attributes.empty()) {
    logger().warn("{} attributes of the model are not in the knowledge: {}", unknown_attributes.size(),
                  list_names(unknown_attributes));
  }
  return {class_names,
          attributes,
          columns_or_zero(rows_or_zero(knowledge.association, row), column),
          rows_or_zero(knowledge.class_embedding, row),
          {},
          knowledge.embedding_sources};
}

}  // namespace protocom
