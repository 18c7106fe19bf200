#include "fewshot/plda/model.h"

#include <algorithm>

namespace protocom {
namespace {

/// Returns which rows describe a class, [n].
std::vector<bool> described(const KnowledgeTable& descriptions, int64_t n) {
  std::vector<bool> any(static_cast<size_t>(n), false);
  for (const Array& part : {descriptions.association, descriptions.class_embedding}) {
    if (!part.defined()) continue;
    const FloatMatrix rows = matrix_of<float>(part.to(NumberType::kFloat32));
    for (int64_t i = 0; i < n; ++i) any[static_cast<size_t>(i)] = any[static_cast<size_t>(i)] || !rows.row(i).isZero(0);
  }
  return any;
}

}  // namespace

double ByShots::at(double shots) const {
  // K / (K + 1), which is 1/2 for one image and 5/6 for five.
  const double place = std::min(shots, 5.0) / (std::min(shots, 5.0) + 1);
  constexpr double kOne = 1.0 / 2;
  constexpr double kFive = 5.0 / 6;
  if (place < kOne) return none + (one - none) * place / kOne;
  return one + (five - one) * (place - kOne) / (kFive - kOne);
}

ClassMeanPrior PldaModel::prior(const KnowledgeTable& descriptions, int64_t n) const {
  if (!knowledge || descriptions.empty()) return no_knowledge(space.between, n);
  ClassMeanPrior prior{knowledge->predict(descriptions), residual.transpose()};
  const std::vector<bool> known = described(descriptions, prior.mean.rows());
  if (std::find(known.begin(), known.end(), false) == known.end()) return prior;
  prior.variance = residual.transpose().replicate(prior.mean.rows(), 1);
  for (int64_t i = 0; i < prior.mean.rows(); ++i) {
    if (known[static_cast<size_t>(i)]) continue;
    prior.mean.row(i).setZero();
    prior.variance.row(i) = space.between.transpose();
  }
  return prior;
}

}  // namespace protocom
