#include "fewshot/plda/own_span.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "fewshot/plda/isotropic.h"
#include "fewshot/plda/known.h"
#include "fewshot/plda/probability_scale.h"
#include "fewshot/toolbox/gaussian.h"
#include "fewshot/toolbox/row_products.h"
#include "fewshot/toolbox/tridiagonal.h"

namespace protocom {
namespace {

/// With more labelled images LAPACK's way through blocks is faster than vectors one by one.
constexpr int64_t kMostImages = 256;

/// Of the largest squared length: a direction in which the images differ less is rounding of float32.
constexpr double kLeastPivot = 1e-6;

/// Of a feature's squared length: nearer to the center, its direction is rounding too.
constexpr double kLeastLength = 1e-3;

/// The labelled images of an episode, and all its images, labelled ones first.
struct SpanImages {
  at::Tensor features;          // float32 [m + q, d]
  bool root = false;            // whether features stand for their roots
  std::vector<int64_t> labels;  // [m]
  std::vector<double> count;    // [n]

  [[nodiscard]] int64_t labelled() const { return static_cast<int64_t>(labels.size()); }
  [[nodiscard]] int64_t classes() const { return static_cast<int64_t>(count.size()); }
  [[nodiscard]] double count_of(size_t image) const { return count[static_cast<size_t>(labels[image])]; }
};

/// Nothing where a support counts in part.
std::optional<SpanImages> images_of(const EpisodeBatch& episode) {
  const at::Tensor support = episode.support.squeeze(0);
  const int64_t classes = support.size(0), shots = support.size(1);
  at::Tensor features = support.flatten(0, 1);
  std::vector<int64_t> there;
  SpanImages images;
  images.count.resize(static_cast<size_t>(classes));
  const at::Tensor mask =
      episode.support_mask.defined() ? episode.support_mask.flatten().contiguous() : at::ones({classes * shots});
  const auto present = mask.accessor<float, 1>();
  for (int64_t i = 0; i < classes * shots; ++i) {
    if (present[i] == 0) continue;
    if (present[i] != 1) return std::nullopt;
    there.push_back(i);
    images.labels.push_back(i / shots);
    images.count[static_cast<size_t>(i / shots)] += 1;
  }
  if (images.labelled() < classes * shots) features = features.index_select(0, at::tensor(there, at::kLong));
  images.root = root_of(features);
  images.features = at::cat({features, episode.query.squeeze(0)});
  return images;
}

/// Labels come together, so copies lie among neighbours of one label.
bool has_copies(const SpanImages& images) {
  const auto d = static_cast<size_t>(images.features.size(1));
  const float* rows = images.features.data_ptr<float>();
  for (size_t i = 0; i < images.labels.size(); ++i) {
    for (size_t j = i + 1; j < images.labels.size() && images.labels[j] == images.labels[i]; ++j) {
      if (std::memcmp(rows + i * d, rows + j * d, d * sizeof(float)) == 0) return true;
    }
  }
  return false;
}

/// Features, or roots of them as PldaSpace::rooted() takes them.
at::Tensor rooted_features(const SpanImages& images) {
  if (!images.root) return images.features;
  const at::Tensor queries = images.features.narrow(0, images.labelled(), images.features.size(0) - images.labelled());
  if (root_of(queries)) return images.features.sqrt();
  return images.features.abs().sqrt_().copysign_(images.features);
}

/// What is left of inner products when each image is moved by `share` of the mean of the labelled class means: `inner`
/// has a row for each labelled image and a column for each image, `squares` a number for each image.
struct SpanProducts {
  VectorColumns inner;
  std::vector<double> squares;

  void move(const SpanImages& images, double share);
  /// Each image is divided by its length. False where a length is rounding.
  bool to_unit_length(const std::vector<double>& least);
};

void SpanProducts::move(const SpanImages& images, double share) {
  const auto all = static_cast<size_t>(inner.columns);
  std::vector<double> with_mean(all);  // inner products with the mean of the class means
  const auto weight = [&](size_t i) { return 1 / (images.count_of(i) * static_cast<double>(images.classes())); };
  for (size_t i = 0; i < images.labels.size(); ++i) {
    const double* row = inner.row(static_cast<int64_t>(i));
    for (size_t j = 0; j < all; ++j) with_mean[j] += weight(i) * row[j];
  }
  double mean_square = 0;
  for (size_t i = 0; i < images.labels.size(); ++i) mean_square += weight(i) * with_mean[i];
  for (size_t i = 0; i < images.labels.size(); ++i) {
    double* row = inner.row(static_cast<int64_t>(i));
    const double own = share * share * mean_square - share * with_mean[i];
    for (size_t j = 0; j < all; ++j) row[j] += own - share * with_mean[j];
  }
  for (size_t j = 0; j < all; ++j) squares[j] += share * (share * mean_square - 2 * with_mean[j]);
}

bool SpanProducts::to_unit_length(const std::vector<double>& least) {
  std::vector<double> inverse(squares.size());
  for (size_t j = 0; j < squares.size(); ++j) {
    if (!(squares[j] > least[j])) return false;
    inverse[j] = 1 / std::sqrt(squares[j]);
  }
  for (int64_t i = 0; i < inner.rows; ++i) {
    double* row = inner.row(i);
    for (size_t j = 0; j < inverse.size(); ++j) row[j] *= inverse[static_cast<size_t>(i)] * inverse[j];
  }
  std::fill(squares.begin(), squares.end(), 1);
  return true;
}

/// Inner products of z less the mean of its class means.
std::optional<SpanProducts> products_of_directions(const SpanImages& images, double share) {
  const at::Tensor x = rooted_features(images).unsqueeze(0);
  const at::Tensor labelled = x.narrow(1, 0, images.labelled());
  const at::Tensor inner = inner_products(labelled, x).contiguous();       // [1, m, m + q]
  const at::Tensor squares = row_squares(x).to(at::kDouble).contiguous();  // [1, m + q, 1]
  SpanProducts products{{images.labelled(), x.size(1)}, {}};
  std::copy_n(inner.data_ptr<float>(), inner.numel(), products.inner.values.begin());
  products.squares.assign(squares.data_ptr<double>(), squares.data_ptr<double>() + squares.numel());
  std::vector<double> least = products.squares;
  for (double& square : least) square *= kLeastLength;
  products.move(images, share);
  if (!products.to_unit_length(least)) return std::nullopt;
  products.move(images, 1);
  return products;
}

/// Images by their coordinates in an orthonormal basis of what the labelled ones span.
struct SpanCoordinates {
  VectorColumns in;             // [r, m + q]
  std::vector<double> outside;  // [m + q], squared length of what is left
};

/// Cholesky's decomposition: what a labelled image has that those before it have not is an axis. The image that has
/// most comes first, so that no axis is made of rounding.
SpanCoordinates coordinates_of(SpanProducts products) {
  VectorColumns& left = products.inner;
  const auto all = static_cast<size_t>(left.columns);
  SpanCoordinates result{{0, left.columns}, std::move(products.squares)};
  std::vector<int64_t> rows(static_cast<size_t>(left.rows));
  std::iota(rows.begin(), rows.end(), 0);
  const auto length = [&](int64_t i) { return left.row(i)[i]; };
  const auto shorter = [&](int64_t i, int64_t k) { return length(i) < length(k); };
  double least = 0;
  while (!rows.empty()) {
    const auto largest = std::max_element(rows.begin(), rows.end(), shorter);
    const int64_t i = *largest;
    if (result.in.rows == 0) least = kLeastPivot * length(i);
    if (!(length(i) > least)) break;
    rows.erase(largest);
    double* axis = left.row(i);
    const double unit = 1 / std::sqrt(length(i));
    for (size_t j = 0; j < all; ++j) axis[j] *= unit;
    for (const int64_t k : rows) {
      double* row = left.row(k);
      const double along = axis[k];
      for (size_t j = 0; j < all; ++j) row[j] -= along * axis[j];
    }
    for (size_t j = 0; j < all; ++j) result.outside[j] = std::max(result.outside[j] - axis[j] * axis[j], 0.0);
    result.in.values.insert(result.in.values.end(), axis, axis + all);
    ++result.in.rows;
  }
  return result;
}

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

/// R in units of the within-class variance, [r, r]: the products of the images' differences, and of the class means as
/// between_rows() weighs them (plda/adaptation.h).
std::vector<double> scatter_matrix(const SpanDifferences& differences, const Isotropic& variances) {
  const size_t r = differences.origin.size();
  std::vector<double> matrix(r * r), row(r);
  const auto add = [&](const double* vector, double weight) {
    for (size_t a = 0; a < r; ++a) {
      double* to = matrix.data() + a * r;
      const double factor = weight * vector[a];
      for (size_t b = 0; b < r; ++b) to[b] += factor * vector[b];
    }
  };
  for (size_t at = 0; at < differences.within.size(); at += r)
    add(differences.within.data() + at, 1 / variances.within);
  for (size_t c = 0; c < differences.count.size(); ++c) {
    for (size_t a = 0; a < r; ++a) row[a] = differences.means.row(static_cast<int64_t>(a))[c];
    add(row.data(), 1 / (variances.within * (variances.between + 1 / differences.count[c])));
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

/// The model that some labelled images make and other images that it answers, in axes in which the scatter R is
/// tridiagonal. In units of the within-class variance w,
///     S = (nu I + R) / (nu + degrees)
/// and with b the between-class variance, an image x and a class of K images with the mean m in these units have
///     posterior mean    u = K b (S + K b I)^-1 m
///     precision         P = (S + k b I) (S + (k + 1) b I)^-1,  k the mean of all K
/// along the axes of S, where x and u are still to be multiplied by S^-1/2; and S^-1 P is
///     (k S^-1 + (S + (k + 1) b I)^-1) / (k + 1).
struct SpanModel {
  Isotropic variances;
  std::vector<double> count;  // [n]
  double mean_count = 0;
  double degrees = 0;
  double dims_outside = 0;
  VectorColumns means;   // [r, n], less their mean
  VectorColumns others;  // [r, l], less that mean
  Tridiagonal scatter;

  /// (nu + degrees) (S + shift I)
  [[nodiscard]] ShiftedTridiagonal plus(double shift, double nu) const {
    return scatter.plus(nu + shift * (nu + degrees));
  }
  /// The same of a direction outside the span, less that factor.
  [[nodiscard]] double outside(double shift, double nu) const { return nu / (nu + degrees) + shift; }
};

/// Of the images `among` the columns of x, to answer the columns `others`.
SpanModel span_model(const VectorColumns& x, const SpanImages& images, const std::vector<int64_t>& among,
                     const std::vector<int64_t>& others) {
  SpanDifferences differences(x, images, among);
  const auto dims = static_cast<double>(images.features.size(1));
  const Isotropic variances = isotropic_variances(sums_of(differences, dims));
  Tridiagonal scatter(scatter_matrix(differences, variances), x.rows);
  const auto kept = static_cast<double>(among.size());
  SpanModel model{variances,
                  differences.count,
                  kept / static_cast<double>(images.classes()),
                  kept - 1,
                  dims - static_cast<double>(x.rows),
                  std::move(differences.means),
                  columns_less(x, others, differences.origin),
                  std::move(scatter)};
  model.scatter.rotate(model.means);
  model.scatter.rotate(model.others);
  return model;
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

/// Log predictives of the other images, [l, n], but for a number for each image: x' S^-1 P u - 1/2 u' S^-1 P u.
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

/// What the log predictives of an image add to linear_scores(), and those of a class without images, [l] each, for
/// images of the squared lengths `outside` [l] outside the span.
struct SharedScores {
  std::vector<double> of_classes, never_seen;
};

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

/// nu and the scale of log predictives.
struct SpanChoice {
  double nu = 0;
  double scale = 1;
};

/// As images left out have it, in folds as scale_by_folds() takes them.
SpanChoice choice_by_folds(const VectorColumns& x, const SpanImages& images, const std::vector<int64_t>& labelled,
                           double usual) {
  const SpanDifferences differences(x, images, labelled);
  const size_t r = differences.origin.size();
  std::vector<double> distances;
  for (size_t i = 0; i < labelled.size(); ++i) {
    const double* row = differences.within.data() + i * r;
    distances.push_back(std::inner_product(row, row + r, row, 0.0));
  }
  std::vector<SpanModel> folds;
  std::vector<int64_t> answered;
  for (const ImageFold& fold : image_folds(distances, images.labels, images.classes(), kFewestOfFolds)) {
    folds.push_back(span_model(x, images, fold.kept, fold.left_out));
    for (const int64_t i : fold.left_out) answered.push_back(images.labels[static_cast<size_t>(i)]);
  }
  if (folds.empty()) return {usual, scale_without_folds(images.labelled(), images.classes())};
  const auto loss = [&](double nu) {
    std::vector<double> logs;
    for (const SpanModel& fold : folds) {
      const std::vector<double> scores = linear_scores(fold, nu);
      logs.insert(logs.end(), scores.begin(), scores.end());
    }
    return most_likely_scale(logs, answered, images.classes());
  };
  const ScaledLoss first = loss(usual), firmer = loss(kFirmer * usual);
  if (surely_less(firmer.loss, first.loss)) return {kFirmer * usual, firmer.scale};
  return {usual, first.scale};
}

/// Logits of log predictives and of a class never seen as PldaPrepared gives them, where `known` is the scale by which
/// P(known) follows.
EpisodeScores episode_scores(const std::vector<double>& scores, const SharedScores& shared, int64_t classes,
                             double scale, double known) {
  const auto queries = static_cast<int64_t>(shared.of_classes.size());
  const at::Tensor linear = at::tensor(scores, at::kDouble).view({1, queries, classes});
  const at::Tensor all = linear + at::tensor(shared.of_classes, at::kDouble).view({1, queries, 1});
  const at::Tensor none = at::tensor(shared.never_seen, at::kDouble).unsqueeze(0);
  const at::Tensor ratio = known_ratio(all, none, at::full({1, 1, 1}, known, at::kDouble));
  const at::Tensor logits = scale * all;
  const at::Tensor unseen = logits.logsumexp(-1) - known * ratio;
  return {logits.to(at::kFloat), at::Tensor(), unseen.to(at::kFloat)};
}

}  // namespace

std::optional<EpisodeScores> answer_in_own_span(const EpisodeBatch& episode, const PldaAdaptation& adaptation,
                                                double scale) {
  if (!are_plain_rows(episode.support.squeeze(0)) || !are_plain_rows(episode.query)) return std::nullopt;
  const std::optional<SpanImages> images = images_of(episode);
  if (!images || images->labelled() > kMostImages || has_copies(*images)) return std::nullopt;
  std::optional<SpanProducts> products =
      products_of_directions(*images, isotropic_center_share(adaptation, images->classes(), images->root));
  if (!products) return std::nullopt;
  const SpanCoordinates x = coordinates_of(std::move(*products));
  std::vector<int64_t> labelled(images->labels.size()), queries(x.outside.size() - labelled.size());
  std::iota(labelled.begin(), labelled.end(), 0);
  std::iota(queries.begin(), queries.end(), images->labelled());
  const auto dims = static_cast<double>(images->features.size(1));
  const SpanChoice choice = choice_by_folds(x.in, *images, labelled, isotropic_degrees(adaptation, dims));
  const SpanModel model = span_model(x.in, *images, labelled, queries);
  const std::vector<double> outside(x.outside.begin() + images->labelled(), x.outside.end());
  return episode_scores(linear_scores(model, choice.nu), shared_scores(model, choice.nu, outside), images->classes(),
                        scale > 0 ? scale : choice.scale, choice.scale);
}

}  // namespace protocom
