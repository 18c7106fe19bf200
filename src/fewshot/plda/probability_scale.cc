#include "fewshot/plda/detail/probability_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/matrix.h"
#include "fewshot/floats.h"
#include "fewshot/row_length.h"
#include "fewshot/toolbox/detail/class_kernels.h"

namespace protocom {
namespace {

constexpr int64_t kMostFolds = 5;

/// Returns the rank of each image in its class by its distance.
std::vector<int64_t> ranks_in_class(const std::vector<double>& distances, const std::vector<int64_t>& labels) {
  std::vector<int64_t> order(labels.size()), rank(labels.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int64_t i) {
    return std::pair(labels[static_cast<size_t>(i)], distances[static_cast<size_t>(i)]);
  };
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return key(a) < key(b); });
  for (size_t i = 1; i < order.size(); ++i) {
    const auto at = static_cast<size_t>(order[i]), before = static_cast<size_t>(order[i - 1]);
    if (labels[at] == labels[before]) rank[at] = rank[before] + 1;
  }
  return rank;
}

/// Returns the rank of each class by the mean of its images' distances.
std::vector<int64_t> ranks_of_classes(const std::vector<double>& distances, const std::vector<int64_t>& labels,
                                      const std::vector<int64_t>& images) {
  std::vector<double> mean(images.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto own = static_cast<size_t>(labels[i]);
    mean[own] += distances[i] / static_cast<double>(images[own]);
  }
  std::vector<int64_t> order(images.size()), rank(images.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return mean[static_cast<size_t>(a)] < mean[static_cast<size_t>(b)]; });
  for (size_t i = 0; i < order.size(); ++i) rank[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return rank;
}

/// Returns the spread over classes other than the rows' own.
double spread_of_others(const std::vector<double>& logs, const std::vector<int64_t>& labels, int64_t classes) {
  ScoreSpread spread;
  for (size_t i = 0; i < labels.size(); ++i)
    spread.add(logs.data() + i * static_cast<size_t>(classes), classes, labels[i]);
  return spread.value();
}

/// Log densities [m, classes] minus the largest of each row, class-major, [classes, stride].
struct LogColumns {
  std::vector<double> values;
  size_t images, classes, stride;

  LogColumns(const std::vector<double>& logs, size_t m, int64_t n)
      : images(m),
        classes(static_cast<size_t>(n)),
        stride(static_cast<size_t>(padded_length(static_cast<int64_t>(m)))) {
    values.resize(classes * stride);
    constexpr size_t kAtOnce = 8;  // columns of several images written together: they may be far apart
    for (size_t i = 0; i < images; i += kAtOnce) set_images(logs, i, std::min(i + kAtOnce, images));
  }

  void set_images(const std::vector<double>& logs, size_t first, size_t last) {
    std::vector<double> largest;
    for (size_t i = first; i < last; ++i)
      largest.push_back(*std::max_element(logs.data() + i * classes, logs.data() + (i + 1) * classes));
    for (size_t c = 0; c < classes; ++c) {
      for (size_t i = first; i < last; ++i) values[c * stride + i] = logs[i * classes + c] - largest[i - first];
    }
  }

  /// Sums each row's exponentials over the classes, times a scale, in single precision, like the features.
  void sum_exponentials(double scale, Floats& work, std::vector<double>& sums) const {
    work.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) work[i] = static_cast<float>(scale * values[i]);
    exponentials_of_classes(work.data(), static_cast<int64_t>(classes), static_cast<int64_t>(stride));
    sums.assign(images, 0);
    for (size_t c = 0; c < classes; ++c) {
      for (size_t i = 0; i < images; ++i) sums[i] += static_cast<double>(work[c * stride + i]);
    }
  }
};

}  // namespace

double log_of_product(const std::vector<double>& numbers) {
  constexpr double kLarge = 1e150;
  double sum = 0, product = 1;
  for (const double number : numbers) {
    product *= number;
    if (product < kLarge) continue;
    sum += std::log(product);
    product = 1;
  }
  return sum + std::log(product);
}

ScaledLoss most_likely_scale(const std::vector<double>& logs, const std::vector<int64_t>& labels, int64_t classes,
                             const ScalePrior& prior) {
  constexpr double kFirst = 0.01, kLast = 2, kStep = 1.2;
  constexpr size_t kMany = 100'000, kCoarse = 5;  // for many log densities, steps of five first and then those between
  const double spread = prior.scaled_spread > 0 ? spread_of_others(logs, labels, classes) : 0;
  const double middle = spread > 0 ? prior.scaled_spread / spread : kDefaultScale;
  const LogColumns columns(logs, labels.size(), classes);
  double of_labels = 0;
  const auto of_label = [&](size_t i) { return columns.values[static_cast<size_t>(labels[i]) * columns.stride + i]; };
  for (size_t i = 0; i < labels.size(); ++i) of_labels += of_label(i);
  Floats work;
  std::vector<double> sums;
  ScaledLoss best;
  double least = std::numeric_limits<double>::infinity();
  std::vector<double> scales;
  for (double scale = kFirst; scale < kLast; scale *= kStep) scales.push_back(scale);
  size_t found = 0;
  const auto ask = [&](size_t i) {
    const double scale = scales[i], away = std::log(scale / middle) / prior.deviation;
    columns.sum_exponentials(scale, work, sums);
    const double cost = 0.5 * away * away + log_of_product(sums) - scale * of_labels;
    if (!(cost < least)) return;
    least = cost;
    found = i;
    best = {sums, scale, spread};
  };
  const size_t step = logs.size() > kMany ? kCoarse : 1;
  for (size_t i = 0; i < scales.size(); i += step) ask(i);
  const size_t begin = found > step - 1 ? found - (step - 1) : 0, end = std::min(found + step, scales.size());
  const size_t middle_one = found;
  for (size_t i = begin; i < end; ++i) {
    if (i != middle_one) ask(i);
  }
  if (!std::isfinite(least)) fail("log densities are not finite: the fitted model is damaged");
  for (size_t i = 0; i < labels.size(); ++i) best.loss[i] = std::log(best.loss[i]) - best.scale * of_label(i);
  return best;
}

void ScoreSpread::add(const double* row, int64_t count, int64_t but) {
  const bool leaves = but >= 0 && but < count;
  const double own = leaves ? row[but] : 0, n = static_cast<double>(count) - (leaves ? 1 : 0);
  if (n < 2) return;
  const Eigen::Map<const Eigen::ArrayXd> all(row, count);
  const double mean = (all.sum() - own) / n;
  const double squares = (all - mean).square().sum() - (leaves ? (own - mean) * (own - mean) : 0);
  variances_ += std::max(squares, 0.0) / (n - 1);
  rows_ += 1;
}

double ScoreSpread::value() const { return rows_ > 0 ? std::sqrt(variances_ / rows_) : 0; }

bool surely_less(const std::vector<double>& loss, const std::vector<double>& than) {
  const auto n = static_cast<double>(loss.size());
  if (loss.size() < 2) return false;
  double mean = 0, square = 0;
  for (size_t i = 0; i < loss.size(); ++i) mean += (than[i] - loss[i]) / n;
  for (size_t i = 0; i < loss.size(); ++i) square += (than[i] - loss[i] - mean) * (than[i] - loss[i] - mean);
  return mean > std::sqrt(square / (n - 1) / n);
}

std::vector<ImageFold> image_folds(const std::vector<double>& distances, const std::vector<int64_t>& labels,
                                   int64_t classes, int64_t least) {
  std::vector<int64_t> images(static_cast<size_t>(classes));
  for (const int64_t label : labels) ++images[static_cast<size_t>(label)];
  const int64_t largest = *std::max_element(images.begin(), images.end());
  if (largest < least) return {};
  const std::vector<int64_t> rank = ranks_in_class(distances, labels);
  const std::vector<int64_t> of_class = ranks_of_classes(distances, labels, images);
  const int64_t many = std::min(largest, kMostFolds);
  std::vector<ImageFold> folds(static_cast<size_t>(many));
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto own = static_cast<size_t>(labels[i]);
    const bool leaves = images[own] >= least;
    const int64_t place = (rank[i] + of_class[own]) % many;
    for (int64_t f = 0; f < many; ++f) {
      ImageFold& fold = folds[static_cast<size_t>(f)];
      (leaves && place == f ? fold.left_out : fold.kept).push_back(static_cast<int64_t>(i));
    }
  }
  return folds;
}

}  // namespace protocom
