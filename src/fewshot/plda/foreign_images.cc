#include "fewshot/plda/detail/foreign_images.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fewshot/plda/detail/added_between.h"
#include "fewshot/toolbox/detail/row_kernels.h"

namespace protocom {
namespace {

/// Rows that are fetched ahead.
constexpr int64_t kAhead = 4;

double square_of(const float* row, int64_t dims) {
  double sum = 0;
  for (int64_t j = 0; j < dims; ++j) sum += static_cast<double>(row[j]) * row[j];
  return sum;
}

}  // namespace

ForeignImages::ForeignImages(ForeignEpisode episode, const ForeignRows& space, double share)
    : labels_(std::move(episode.labels)),
      space_(&space),
      share_(share),
      rows_(std::move(episode.rows)),
      products_(0, 0) {}

std::optional<ForeignImages> ForeignImages::of(ForeignEpisode episode, const ForeignRows& space,
                                               const PldaAdaptation& adaptation) {
  const double share = center_share(adaptation, episode.labels.classes());
  ForeignImages images(std::move(episode), space, share);
  std::vector<const float*> features;  // products are rounded by where in a table a row lies
  for (int64_t i = 0; i < images.labels_.labelled(); ++i)
    features.push_back(images.rows_[static_cast<size_t>(i)] + space.first());
  if (has_copies(images.labels_, features, space.last() - space.first()) || !images.place_center()) return std::nullopt;
  images.place_origin();
  images.multiply();
  images.measure_between(adaptation);
  images.multiply_by_between();
  return images;
}

bool ForeignImages::place_center() {
  const int64_t first = dim(), length = space_->last() - first, m = labels_.labelled();
  Floats weights(static_cast<size_t>(m));
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(share_ / labels_.count_of(i) / static_cast<double>(labels_.classes()));
  center_.resize(static_cast<size_t>(space_->last()));
  sums_of_rows({rows_.data(), m, weights.data(), 1, m, space_->last()}, center_.data());
  const float* center = center_.data() + first;
  const double square = row_dot(center, center, length);
  std::vector<const float*> features;
  for (const float* row : rows_) features.push_back(row + first);
  inverse_lengths_.resize(rows_.size());
  row_dots({features.data(), static_cast<int64_t>(rows_.size()), center, 1, length, 1}, inverse_lengths_.data());
  for (size_t i = 0; i < rows_.size(); ++i) {
    const double own = rows_[i][space_->last()];
    const double left = own - 2 * static_cast<double>(inverse_lengths_[i]) + square;
    if (!(left > kLeastLength * own)) return false;
    inverse_lengths_[i] = static_cast<float>(1 / std::sqrt(left));
  }
  return true;
}

void ForeignImages::place(int64_t i, float* f) const {
  const float* row = rows_[static_cast<size_t>(i)];
  const float inverse = inverse_lengths_[static_cast<size_t>(i)];
  // Rows lie anywhere in a table, which no processor foresees.
  const auto ahead = static_cast<size_t>(std::min(i + kAhead, static_cast<int64_t>(rows_.size()) - 1));
  for (size_t j = 0; j < origin_.size(); j += kRowMultiple) __builtin_prefetch(rows_[ahead] + j);
  for (size_t j = 0; j < origin_.size(); ++j) f[j] = (row[j] - center_[j]) * inverse - origin_[j];
}

void ForeignImages::place_origin() {
  const int64_t m = labels_.labelled(), n = labels_.classes();
  origin_ = space_->offset();
  differences_.resize(static_cast<size_t>((m + n) * dim()));
  const auto row = [&](int64_t i) { return differences_.data() + i * dim(); };
  Floats shift(origin_.size());
  for (int64_t i = 0; i < m; ++i) {
    place(i, row(i));
    const auto at = static_cast<size_t>(i);
    add_scaled_row(static_cast<float>(1 / labels_.count_of(at)), row(i), dim(), row(m + labels_.labels[at]));
  }
  for (int64_t c = 0; c < n; ++c)
    add_scaled_row(static_cast<float>(share_ / static_cast<double>(n)), row(m + c), dim(), shift.data());
  for (int64_t i = 0; i < m; ++i) {
    add_scaled_row(-1, row(m + labels_.labels[static_cast<size_t>(i)]), dim(), row(i));
    within_.push_back(row(i));
  }
  for (int64_t c = 0; c < n; ++c) add_scaled_row(-1, shift.data(), dim(), row(m + c));
  add_scaled_row(1, shift.data(), dim(), origin_.data());
}

void ForeignImages::measure_between(const PldaAdaptation& adaptation) {
  between_ = space_->between();
  if (adaptation.added_between < 0) return;
  const int64_t m = labels_.labelled(), n = labels_.classes(), begin = space_->leading();
  IsotropicSums sums;
  sums.dims = static_cast<double>(dims() - begin);
  sums.images = static_cast<double>(m);
  sums.classes = static_cast<double>(n);
  for (const double count : labels_.count) sums.error += 1 / count / sums.classes;
  // The products are sums over all dimensions: the leading ones are taken off.
  for (int64_t i = 0; i < m; ++i)
    sums.within += products_.row(i)[i] - square_of(within()[static_cast<size_t>(i)], begin);
  Floats middle(origin_.size());
  for (int64_t c = 0; c < n; ++c) {
    add_scaled_row(static_cast<float>(1 / sums.classes), mean(c), dim(), middle.data());
    sums.between += products_.row(m + c)[m + c] - square_of(mean(c), begin);
  }
  sums.between -= sums.classes * (row_dot(middle.data(), middle.data(), dim()) - square_of(middle.data(), begin));
  sums.between /= std::max(sums.classes - 1, 1.0);
  const double fitted =
      std::accumulate(between_.begin() + begin, between_.begin() + dims(), 0.0) / std::max(sums.dims, 1.0);
  const auto added = static_cast<float>(added_between(adaptation, sums, fitted));
  for (int64_t j = 0; j < dims(); ++j) between_[static_cast<size_t>(j)] += added;
}

void ForeignImages::multiply() {
  const int64_t m = labels_.labelled(), all = m + labels_.classes();
  std::vector<const float*> rows = within_;
  for (int64_t c = 0; c < labels_.classes(); ++c) rows.push_back(mean(c));
  Floats products(static_cast<size_t>(all * all));
  gram_of_rows({rows.data(), all, dim(), all}, products.data());
  products_ = VectorColumns(all, all);
  products_.values.assign(products.begin(), products.end());
}

void ForeignImages::multiply_by_between() {
  const int64_t m = labels_.labelled();
  Floats weighted(static_cast<size_t>(m * dim()));
  for (int64_t i = 0; i < m; ++i) {
    const float* from = within_[static_cast<size_t>(i)];
    float* to = weighted.data() + i * dim();
    for (int64_t j = 0; j < dim(); ++j) to[j] = from[j] * between()[j];
  }
  by_between_.resize(static_cast<size_t>(m * m));
  row_dots({within_.data(), m, weighted.data(), m, dim(), m}, by_between_.data());
}

}  // namespace protocom
