#include "fewshot/plda/detail/batch_scale.h"

#include <algorithm>
#include <vector>

#include "fewshot/plda/detail/probability_scale.h"

namespace protocom {
namespace {

/// The scale of log densities of a batch is that of single photos times kBatchTrust K / (K + kBatchDoubt), with K
/// labelled images per class. Found with 10 queries per class on val classes of CUB-100 and of Tiny-ImageNet-100
/// (docs/log/plda.md).
constexpr double kBatchTrust = 0.6, kBatchDoubt = 0.8;
/// The largest product of a batch's scale and the spread of its scores. Found on the same val classes with three
/// encoders, five classes, two to five images per class.
constexpr double kMostScaledSpreadOfBatch = 2.5;

}  // namespace

double batch_trust(double images) { return kBatchTrust * images / (images + kBatchDoubt); }

double bounded_batch_scale(const DoubleMatrix& scores, double scale) {
  ScoreSpread others;
  std::vector<double> row(static_cast<size_t>(scores.cols()));
  for (int64_t i = 0; i < scores.rows(); ++i) {
    for (int64_t c = 0; c < scores.cols(); ++c) row[static_cast<size_t>(c)] = scores(i, c);
    others.add(row.data(), scores.cols(), std::max_element(row.begin(), row.end()) - row.begin());
  }
  return others.value() > 0 ? std::min(scale, kMostScaledSpreadOfBatch / others.value()) : scale;
}

}  // namespace protocom
