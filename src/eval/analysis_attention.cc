#include "eval/analysis_attention.h"

#include <algorithm>
#include <cmath>

#include "fewshot/paper/completion_attention.h"

namespace protocom {
namespace {

std::vector<int64_t> attributes_of(const KnowledgeTable& classes, int64_t class_index) {
  const Array row = classes.association.row(class_index);
  std::vector<int64_t> found;
  for (int64_t a = 0; a < row.numel(); ++a) {
    if (row.data<float>()[a] != 0) found.push_back(a);
  }
  return found;
}

ClassAttention attention_of_class(const AnalysisInputs& inputs, int64_t class_index, const std::vector<int64_t>& rows,
                                  const Knowledge& knowledge) {
  const CompletionModel& model = *inputs.data.model;
  const KnowledgeTable& classes = *inputs.data.classes;
  const std::string& name = inputs.data.features.class_names[static_cast<size_t>(class_index)];
  ClassAttention result{name, short_title(knowledge, name), static_cast<int64_t>(rows.size()), {}};
  const std::vector<int64_t> own = attributes_of(classes, class_index);
  if (own.empty()) return result;
  const Array images = inputs.data.features.features.gathered(rows);
  const CompletionAttention found = completion_attention(model, classes, class_index, own, matrix_of<float>(images));
  for (size_t i = 0; i < own.size(); ++i) {
    const Eigen::VectorXd alpha = found.alpha.col(static_cast<int64_t>(i)).cast<double>();
    const std::string& attribute = model.attributes[static_cast<size_t>(own[i])];
    result.attributes.push_back({attribute, short_title(knowledge, attribute),
                                 classes.association.row(class_index).data<float>()[own[i]], alpha.mean(),
                                 std::sqrt((alpha.array() - alpha.mean()).square().mean()),
                                 found.contribution.col(static_cast<int64_t>(i)).cast<double>().mean()});
  }
  std::stable_sort(result.attributes.begin(), result.attributes.end(),
                   [](const auto& a, const auto& b) { return a.contribution > b.contribution; });
  return result;
}

}  // namespace

std::vector<ClassAttention> analyse_attention(const AnalysisInputs& inputs, Split split, const Knowledge& knowledge) {
  const auto by_class = inputs.data.features.rows_by_class();
  std::vector<ClassAttention> result;
  for (const int64_t k : inputs.data.features.classes_of(split))
    result.push_back(attention_of_class(inputs, k, by_class[static_cast<size_t>(k)], knowledge));
  return result;
}

}  // namespace protocom
