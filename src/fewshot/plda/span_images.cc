#include "fewshot/plda/detail/span_images.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "fewshot/plda/space.h"
#include "fewshot/toolbox/detail/row_products.h"

namespace protocom {
namespace {

/// Of the largest squared length: a direction in which the images differ less is rounding of float32.
constexpr double kLeastPivot = 1e-6;

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

}  // namespace

std::optional<SpanLabels> span_labels(const EpisodeBatch& episode) {
  const int64_t classes = episode.support.size(1), shots = episode.support.size(2);
  SpanLabels images;
  images.count.resize(static_cast<size_t>(classes));
  const at::Tensor mask =
      episode.support_mask.defined() ? episode.support_mask.flatten().contiguous() : at::ones({classes * shots});
  const auto present = mask.accessor<float, 1>();
  for (int64_t i = 0; i < classes * shots; ++i) {
    if (present[i] == 0) continue;
    if (present[i] != 1) return std::nullopt;
    images.there.push_back(i);
    images.labels.push_back(i / shots);
    images.count[static_cast<size_t>(i / shots)] += 1;
  }
  return images;
}

bool has_copies(const SpanLabels& labels, const std::vector<const float*>& rows, int64_t length) {
  // Labels come together, so copies lie among neighbours of one label.
  const size_t bytes = static_cast<size_t>(length) * sizeof(float);
  for (size_t i = 0; i < labels.labels.size(); ++i) {
    for (size_t j = i + 1; j < labels.labels.size() && labels.labels[j] == labels.labels[i]; ++j) {
      if (std::memcmp(rows[i], rows[j], bytes) == 0) return true;
    }
  }
  return false;
}

std::optional<SpanImages> span_images(const EpisodeBatch& episode) {
  std::optional<SpanLabels> labels = span_labels(episode);
  if (!labels) return std::nullopt;
  at::Tensor features = episode.support.squeeze(0).flatten(0, 1);
  if (labels->labelled() < features.size(0)) features = features.index_select(0, at::tensor(labels->there, at::kLong));
  SpanImages images{std::move(*labels), at::cat({features, episode.query.squeeze(0)}), root_of(features)};
  std::vector<const float*> rows;
  for (int64_t i = 0; i < images.labelled(); ++i)
    rows.push_back(images.features.data_ptr<float>() + i * images.features.size(1));
  if (has_copies(images, rows, images.features.size(1))) return std::nullopt;
  return images;
}

std::optional<SpanCoordinates> span_coordinates(const SpanImages& images, double share) {
  std::optional<SpanProducts> products = products_of_directions(images, share);
  if (!products) return std::nullopt;
  return coordinates_of(std::move(*products));
}

}  // namespace protocom
