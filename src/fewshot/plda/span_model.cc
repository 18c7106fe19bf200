#include "fewshot/plda/detail/span_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fewshot/toolbox/detail/gaussian.h"

namespace protocom {
namespace {

/// How labelled images lie: their class means, and rows of r numbers of how they differ.
struct SpanDifferences {
  std::vector<double> count;   // [n], images of each class
  VectorColumns means;         // [r, n], less their mean
  std::vector<double> origin;  // [r], that mean
  std::vector<double> within;  // [k, r], each image less the mean of its class

  SpanDifferences(const VectorColumns& x, const SpanImages& images, const std::vector<int64_t>& among);
};

SpanDifferences::SpanDifferences(const VectorColumns& x, const SpanImages& images, const std::vector<int64_t>& among)
    : count(images.count.size()),
      means(x.rows, images.classes()),
      origin(static_cast<size_t>(x.rows)),
      within(among.size() * origin.size()) {
  const auto label = [&](int64_t i) { return static_cast<size_t>(images.labels[static_cast<size_t>(i)]); };
  for (const int64_t i : among) count[label(i)] += 1;
  for (size_t r = 0; r < origin.size(); ++r) {
    const double* row = x.row(static_cast<int64_t>(r));
    double* mean = means.row(static_cast<int64_t>(r));
    for (const int64_t i : among) mean[label(i)] += row[i] / count[label(i)];
    double* difference = within.data() + r;
    for (const int64_t i : among) {
      *difference = row[i] - mean[label(i)];
      difference += origin.size();
    }
    origin[r] = std::accumulate(mean, mean + count.size(), 0.0) / static_cast<double>(count.size());
    for (size_t c = 0; c < count.size(); ++c) mean[c] -= origin[r];
  }
}

double sum_of_squares(const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

IsotropicSums sums_of(const SpanDifferences& differences, double dims) {
  IsotropicSums sums;
  sums.dims = dims;
  sums.classes = static_cast<double>(differences.count.size());
  sums.images = std::accumulate(differences.count.begin(), differences.count.end(), 0.0);
  sums.within = sum_of_squares(differences.within);
  sums.between = sum_of_squares(differences.means.values) / std::max(sums.classes - 1, 1.0);
  for (const double images : differences.count) sums.error += 1 / images / sums.classes;
  return sums;
}

/// R in units of the within-class variance, [r, r]: the products of the images' differences, and `weight` times those
/// of the class means' rows (between_rows() in plda/adaptation.h).
std::vector<double> scatter_matrix(const SpanDifferences& differences, const Isotropic& variances, double weight) {
  const size_t r = differences.origin.size();
  std::vector<double> matrix(r * r), row(r);
  const auto add = [&](const double* vector, double times) {
    for (size_t a = 0; a < r; ++a) {
      double* to = matrix.data() + a * r;
      const double factor = times * vector[a];
      for (size_t b = 0; b < r; ++b) to[b] += factor * vector[b];
    }
  };
  for (size_t at = 0; at < differences.within.size(); at += r)
    add(differences.within.data() + at, 1 / variances.within);
  for (size_t c = 0; c < differences.count.size(); ++c) {
    for (size_t a = 0; a < r; ++a) row[a] = differences.means.row(static_cast<int64_t>(a))[c];
    add(row.data(), weight / (variances.within * (variances.between + 1 / differences.count[c])));
  }
  return matrix;
}

/// The columns `which`, less `origin`.
VectorColumns columns_less(const VectorColumns& x, const std::vector<int64_t>& which,
                           const std::vector<double>& origin) {
  VectorColumns result(x.rows, static_cast<int64_t>(which.size()));
  for (int64_t r = 0; r < x.rows; ++r) {
    double* to = result.row(r);
    for (size_t j = 0; j < which.size(); ++j) to[j] = x.row(r)[which[j]] - origin[static_cast<size_t>(r)];
  }
  return result;
}

/// u of each class, [r, n].
VectorColumns posterior_means(const SpanModel& model, double nu) {
  VectorColumns result = model.means;
  std::vector<double> numbers = model.count;
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (const double images : numbers) {
    const double prior = images * model.variances.between;
    VectorColumns solved = model.means;
    model.plus(prior, nu).solve(solved);
    for (int64_t r = 0; r < result.rows; ++r) {
      for (size_t c = 0; c < model.count.size(); ++c)
        if (model.count[c] == images) result.row(r)[c] = prior * (nu + model.degrees) * solved.row(r)[c];
    }
  }
  return result;
}

}  // namespace

SpanModel span_model(const VectorColumns& x, const SpanImages& images, const std::vector<int64_t>& among,
                     const std::vector<int64_t>& others, double weight) {
  SpanDifferences differences(x, images, among);
  const auto dims = static_cast<double>(images.features.size(1));
  const Isotropic variances = isotropic_variances(sums_of(differences, dims));
  Tridiagonal scatter(scatter_matrix(differences, variances, weight), x.rows);
  const auto kept = static_cast<double>(among.size()), classes = static_cast<double>(images.classes());
  SpanModel model{variances,
                  differences.count,
                  kept / classes,
                  kept - classes + weight * (classes - 1),
                  dims - static_cast<double>(x.rows),
                  std::move(differences.means),
                  columns_less(x, others, differences.origin),
                  std::move(scatter)};
  model.scatter.rotate(model.means);
  model.scatter.rotate(model.others);
  return model;
}

std::vector<double> fold_distances(const VectorColumns& x, const SpanImages& images) {
  std::vector<int64_t> labelled(images.labels.size());
  std::iota(labelled.begin(), labelled.end(), 0);
  const SpanDifferences differences(x, images, labelled);
  const size_t r = differences.origin.size();
  std::vector<double> distances;
  for (size_t i = 0; i < labelled.size(); ++i) {
    const double* row = differences.within.data() + i * r;
    const int64_t own = images.labels[i];
    double square = 0;
    for (size_t j = 0; j < r; ++j) {
      const double mean = images.count_of(i) == 2 ? differences.means.row(static_cast<int64_t>(j))[own] : 0;
      square += (row[j] + mean) * (row[j] + mean);
    }
    distances.push_back(square);
  }
  return distances;
}

std::vector<double> linear_scores(const SpanModel& model, double nu) {
  const VectorColumns u = posterior_means(model, nu);
  VectorColumns by_s = u, weights = u;
  model.plus(0, nu).solve(by_s);
  model.plus((model.mean_count + 1) * model.variances.between, nu).solve(weights);
  const double unit = (nu + model.degrees) / (model.mean_count + 1) / model.variances.within;
  for (size_t i = 0; i < weights.values.size(); ++i)
    weights.values[i] = unit * (model.mean_count * by_s.values[i] + weights.values[i]);
  const auto n = static_cast<size_t>(u.columns), l = static_cast<size_t>(model.others.columns);
  std::vector<double> half(n), scores(l * n);
  for (int64_t r = 0; r < u.rows; ++r) {
    const double* weight = weights.row(r);
    const double* image = model.others.row(r);
    for (size_t c = 0; c < n; ++c) half[c] += 0.5 * u.row(r)[c] * weight[c];
    for (size_t i = 0; i < l; ++i) {
      for (size_t c = 0; c < n; ++c) scores[i * n + c] += image[i] * weight[c];
    }
  }
  for (size_t i = 0; i < l * n; ++i) scores[i] -= half[i % n];
  return scores;
}

SharedScores shared_scores(const SpanModel& model, double nu, const std::vector<double>& outside) {
  const double b = model.variances.between, k = model.mean_count, unit = nu + model.degrees;
  const ShiftedTridiagonal s = model.plus(0, nu), with_mean = model.plus(k * b, nu),
                           with_image = model.plus((k + 1) * b, nu), with_none = model.plus(b, nu);
  const auto log_ratio = [&](const ShiftedTridiagonal& more, const ShiftedTridiagonal& less, double more_shift,
                             double less_shift) {
    return more.log_determinant() - less.log_determinant() +
           model.dims_outside * std::log(model.outside(more_shift, nu) / model.outside(less_shift, nu));
  };
  const double constant = (model.dims_outside + static_cast<double>(model.others.rows)) * kLogTwoPi;
  const double classes = log_ratio(with_image, with_mean, (k + 1) * b, k * b) + constant;
  const double none = log_ratio(with_none, s, b, 0) + constant;
  const std::vector<double> by_s = s.squares(model.others), by_image = with_image.squares(model.others),
                            by_none = with_none.squares(model.others);
  const double of_classes_outside = (k / model.outside(0, nu) + 1 / model.outside((k + 1) * b, nu)) / (k + 1);
  SharedScores scores;
  for (size_t i = 0; i < outside.size(); ++i) {
    const double image = unit * (k * by_s[i] + by_image[i]) / (k + 1) + outside[i] * of_classes_outside;
    const double unseen = unit * by_none[i] + outside[i] / model.outside(b, nu);
    scores.of_classes.push_back(-0.5 * (image / model.variances.within + classes));
    scores.never_seen.push_back(-0.5 * (unseen / model.variances.within + none));
  }
  return scores;
}

}  // namespace protocom
