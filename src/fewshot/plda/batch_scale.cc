#include "fewshot/plda/detail/batch_scale.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fewshot/plda/detail/probability_scale.h"

namespace protocom {
namespace {

/// The scale of log densities of a batch is that of single photos times kBatchTrust K / (K + kBatchDoubt), with K
/// labelled images per class. Found with 10 queries per class on val classes of CUB-100 and of Tiny-ImageNet-100
/// (docs/log/plda.md).
constexpr double kBatchTrust = 0.6, kBatchDoubt = 0.8;

/// A batch of very many images removes kGain (1 - e)^2 / K of the error e of single answers: the more of them are
/// wrong, the less EM corrects. With kUnlabelledHalves images per class it is half of that, with few almost nothing.
/// Found on val classes of CUB-100 with two encoders, Caltech-101 and ImageNet classes (docs/log/plda.md).
constexpr double kGain = 0.75, kUnlabelledHalves = 5.5;

/// The largest product of the scale and the spread of single answers. Found on val classes of CUB-100 and
/// Tiny-ImageNet-100 with three encoders, two to ten images per class.
constexpr double kMostScaledSpread = 2.5;

/// Returns the mean over images of the greatest probability at a scale; `below` [q, n]: scores minus each row's
/// largest.
double certainty(const FloatMatrix& below, double scale) {
  return (static_cast<float>(scale) * below.array()).exp().rowwise().sum().inverse().cast<double>().mean();
}

FloatMatrix below_largest(const DoubleMatrix& scores) {
  const DoubleVector largest = scores.rowwise().maxCoeff();
  return (scores.colwise() - largest).cast<float>();
}

}  // namespace

double batch_trust(double images) { return kBatchTrust * images / (images + kBatchDoubt); }

double error_of_batch(double error, double images, double unlabelled) {
  const double right = 1 - error, squared = unlabelled * unlabelled;
  const double enough = squared / (squared + kUnlabelledHalves * kUnlabelledHalves);
  return error * (1 - kGain * right * right * enough / std::max(images, 1.0));
}

double bounded_scale(const DoubleMatrix& scores, double scale) {
  ScoreSpread others;
  std::vector<double> row(static_cast<size_t>(scores.cols()));
  for (int64_t i = 0; i < scores.rows(); ++i) {
    for (int64_t c = 0; c < scores.cols(); ++c) row[static_cast<size_t>(c)] = scores(i, c);
    others.add(row.data(), scores.cols(), std::max_element(row.begin(), row.end()) - row.begin());
  }
  return others.value() > 0 ? std::min(scale, kMostScaledSpread / others.value()) : scale;
}

double matching_batch_scale(const DoubleMatrix& scores, const SingleAnswers& single) {
  constexpr int kHalvings = 20;
  constexpr double kWidest = 100;  // times the scale of single answers, up or down
  if (scores.rows() == 0 || scores.cols() < 2) return single.scale;
  const double unlabelled = static_cast<double>(scores.rows()) / static_cast<double>(scores.cols());
  DoubleMatrix alone = bounded_scale(single.scores, single.scale) * single.scores;
  if (single.log_shares.size() > 0) alone.rowwise() += single.log_shares.cast<double>().transpose();
  const double error = 1 - certainty(below_largest(alone), 1);
  const double aim = 1 - error_of_batch(error, single.images, unlabelled);
  const FloatMatrix below = below_largest(scores);
  double least = std::log(single.scale / kWidest), most = std::log(single.scale * kWidest);
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (least + most) / 2;
    (certainty(below, std::exp(middle)) < aim ? least : most) = middle;
  }
  return std::exp((least + most) / 2);
}

}  // namespace protocom
