#include "fewshot/paper/paper_training.h"

#include <ATen/ATen.h>

#include <vector>

#include "base/error.h"
#include "fewshot/paper/completer.h"
#include "fewshot/paper/detail/paper_row.h"
#include "fewshot/toolbox/cosine_classifier.h"
#include "tensors/tensors.h"

namespace protocom {

bool is_paper_row(const Method& method) { return dynamic_cast<const PaperRow*>(&method) != nullptr; }

BatchScores paper_row_scores(const Method& method, const EpisodeBatch& batch, const CompletePrototypes& complete,
                             const at::Tensor& gamma) {
  const auto* row = dynamic_cast<const PaperRow*>(&method);
  if (row == nullptr) fail_usage("'{}' is none of the paper's rows", method.label());
  return row->scores(batch, complete, gamma);
}

BatchScores PaperRow::scores(const EpisodeBatch& batch, const CompletePrototypes& complete,
                             const at::Tensor& gamma) const {
  check_batch(batch);
  const at::Tensor prototypes = prototypes_(PrototypeParts(batch, complete), options_);  // [b, n, d]
  const at::Tensor cosines = protocom::cosine_similarity(batch.query, prototypes);
  return {options_.gamma > 0 ? options_.gamma * cosines : gamma * cosines, prototypes};
}

CompletePrototypes complete_by(const CompletionModel& model, const KnowledgeTable& classes) {
  return [completer = std::make_shared<Completer>(model, classes)](const at::Tensor& prototypes,
                                                                   const at::Tensor& labels) {
    const Array rows = array_of(prototypes.flatten(0, 1).to(at::kFloat));
    const FloatMatrix completed = completer->complete(matrix_of<float>(rows), numbers_of(labels.flatten()));
    return tensor_of(array_of_matrix(completed)).view(prototypes.sizes());
  };
}

}  // namespace protocom
