#include "heads/paper_training.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "fewshot/paper/completer.h"
#include "fewshot/paper/paper_row.h"
#include "heads/cosine_classifier.h"
#include "heads/gauss_fusion.h"
#include "tensors/tensors.h"

namespace protocom {

namespace {

/// Returns the prototypes of row `row`, float32 [b, n, d].
at::Tensor prototypes_of(int row, const EpisodeBatch& batch, const CompletePrototypes& complete,
                         const GaussFusionOptions& fusion) {
  const SupportStatistics support = statistics_of(batch);
  const at::Tensor mean = mean_prototypes(support);
  if (row == 1) return mean;
  const at::Tensor completed = complete(mean, batch.classes);
  if (row == 2) return completed;
  if (row == 3) return fuse_by_mean(mean, completed);
  return gauss_fusion(support, completed, unlabelled_of(batch), fusion);
}

}  // namespace

BatchScores paper_row_scores(const Method& method, const EpisodeBatch& batch, const CompletePrototypes& complete,
                             const at::Tensor& gamma) {
  const PaperRowOptions* options = paper_row_options(method);
  if (options == nullptr) fail_usage("'{}' is not a method of the paper", method.label());
  check_batch(batch);
  const at::Tensor prototypes = prototypes_of(method.spec().paper_row, batch, complete, *options);  // [b, n, d]
  const at::Tensor cosines = protocom::cosine_similarity(batch.query, prototypes);
  return {options->gamma > 0 ? options->gamma * cosines : gamma * cosines, prototypes};
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
