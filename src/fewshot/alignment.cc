#include "protocom/fewshot/alignment.h"

#include <ATen/ATen.h>

#include "protocom/core/error.h"
#include "protocom/core/log.h"

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

/// `index_of(name)` for each name, -1 for those it does not know, which are also put into `unknown`.
template <typename IndexOf>
at::Tensor indices(const std::vector<std::string>& names, IndexOf index_of, std::vector<std::string>& unknown) {
  std::vector<int64_t> result;
  for (const auto& name : names) {
    result.push_back(index_of(name));
    if (result.back() < 0) unknown.push_back(name);
  }
  return at::tensor(result, at::kLong);
}

/// Rows (dim 0) or columns (dim 1) of a matrix, zeros where the index is -1.
at::Tensor select_or_zero(const at::Tensor& matrix, int64_t dim, const at::Tensor& index) {
  const at::Tensor known = (index >= 0).to(matrix.scalar_type());
  return matrix.index_select(dim, index.clamp_min(0)) * (dim == 0 ? known.unsqueeze(1) : known.unsqueeze(0));
}

}  // namespace

ClassKnowledge align_knowledge(const KnowledgeTable& knowledge, const std::vector<std::string>& class_names,
                               const std::vector<std::string>& attributes) {
  std::vector<std::string> unknown_classes;
  std::vector<std::string> unknown_attributes;
  const at::Tensor row = indices(
      class_names, [&](const auto& name) { return knowledge.class_index(name); }, unknown_classes);
  const at::Tensor column = indices(
      attributes, [&](const auto& name) { return knowledge.attribute_index(name); }, unknown_attributes);
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
  const at::Tensor association = select_or_zero(knowledge.association, 0, row);
  return {select_or_zero(association, 1, column).contiguous(),
          select_or_zero(knowledge.class_embedding, 0, row).contiguous()};
}

}  // namespace protocom
