#include "fewshot/align_knowledge.h"

#include <ATen/ATen.h>

#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/log.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

constexpr size_t kNamesShown = 10;

/// "a, b, c and 4 more"
std::string list_names(std::vector<std::string> names) {
  const size_t hidden = names.size() > kNamesShown ? names.size() - kNamesShown : 0;
  names.resize(names.size() - hidden);
  const std::string shown = fmt::format("{}", fmt::join(names, ", "));
  return hidden == 0 ? shown : fmt::format("{} and {} more", shown, hidden);
}

/// The place of each name in `known`, -1 for those that are not there, which are also put into `unknown`.
at::Tensor indices(const std::vector<std::string>& names, const std::vector<std::string>& known,
                   std::vector<std::string>& unknown) {
  std::unordered_map<std::string_view, int64_t> place;
  for (size_t i = 0; i < known.size(); ++i) place.emplace(known[i], static_cast<int64_t>(i));
  std::vector<int64_t> result;
  for (const auto& name : names) {
    const auto found = place.find(name);
    result.push_back(found == place.end() ? -1 : found->second);
    if (found == place.end()) unknown.push_back(name);
  }
  return at::tensor(result, at::kLong);
}

/// Rows (dim 0) or columns (dim 1) of a matrix, zeros where the index is -1.
at::Tensor select_or_zero(const at::Tensor& matrix, int64_t dim, const at::Tensor& index) {
  const at::Tensor known = (index >= 0).to(matrix.scalar_type());
  return matrix.index_select(dim, index.clamp_min(0)) * (dim == 0 ? known.unsqueeze(1) : known.unsqueeze(0));
}

}  // namespace

KnowledgeTable align_knowledge(const KnowledgeTable& knowledge, const std::vector<std::string>& class_names,
                               const std::vector<std::string>& attributes) {
  std::vector<std::string> unknown_classes;
  std::vector<std::string> unknown_attributes;
  const at::Tensor row = indices(class_names, knowledge.classes, unknown_classes);
  const at::Tensor column = indices(attributes, knowledge.attributes, unknown_attributes);
  if (unknown_classes.size() == class_names.size()) {
    fail("the knowledge names none of the {} classes of the features: it has '{}', ..., they have '{}', ...",
         class_names.size(), knowledge.classes.empty() ? "" : knowledge.classes.front(), class_names.front());
  }
  if (!unknown_classes.empty()) {
    logger().warn("{} classes are not in the knowledge and are completed without attributes: {}",
                  unknown_classes.size(), list_names(unknown_classes));
  }
  if (!unknown_attributes.empty()) {
    logger().warn("{} attributes of the model are not in the knowledge: {}", unknown_attributes.size(),
                  list_names(unknown_attributes));
  }
  const at::Tensor association = select_or_zero(tensor_of(knowledge.association), 0, row);
  return {class_names,
          attributes,
          array_of(select_or_zero(association, 1, column)),
          array_of(select_or_zero(tensor_of(knowledge.class_embedding), 0, row)),
          {},
          knowledge.embedding_sources};
}

}  // namespace protocom
