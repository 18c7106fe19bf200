#include "eval/detail/class_centres.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "io/mapped_rows.h"

namespace protocom {
namespace {

/// Returns the cosine with a unit vector. Sums in 16 lanes, four vectors of GCC and Clang that every processor has, so
/// the order of sums is the same on every processor and for every number of threads.
float cosine_to_unit(const float* vector, const float* unit, int64_t dim) {
  using Four = float __attribute__((vector_size(16)));
  constexpr int64_t kLanes = 16;
  Four products[4] = {}, squares[4] = {};
  int64_t i = 0;
  for (; i + kLanes <= dim; i += kLanes) {
#pragma GCC unroll 4
    for (int64_t part = 0; part < 4; ++part) {
      Four x, y;
      std::memcpy(&x, vector + i + 4 * part, sizeof(Four));
      std::memcpy(&y, unit + i + 4 * part, sizeof(Four));
      products[part] += x * y;
      squares[part] += x * x;
    }
  }
  float product = 0, square = 0;
#pragma GCC unroll 16
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    product += products[lane / 4][lane % 4];
    square += squares[lane / 4][lane % 4];
  }
  for (; i < dim; ++i) {
    product += vector[i] * unit[i];
    square += vector[i] * vector[i];
  }
  return product / std::max(std::sqrt(square), 1e-12F);
}

/// Computes the centres [all classes, d] in one pass over the rows, in order; of features in a file only a piece is in
/// memory at a time. Sums in double: a float sum of thousands of images loses digits.
FloatMatrix compute_centres(const FeatureSet& features, const std::vector<int64_t>& classes) {
  constexpr int64_t kPieceBytes = int64_t{64} << 20;
  const int64_t dim = features.dim(), count = static_cast<int64_t>(features.class_names.size());
  std::vector<bool> wanted(static_cast<size_t>(count));
  for (const int64_t k : classes) wanted[static_cast<size_t>(k)] = true;
  DoubleMatrix sums = DoubleMatrix::Zero(count, dim);
  DoubleVector images = DoubleVector::Zero(count);
  const auto* label = features.labels.data();
  const int64_t step = std::max<int64_t>(1, kPieceBytes / (dim * static_cast<int64_t>(sizeof(float))));
  for (int64_t first = 0; first < features.size(); first += step) {
    const Array piece = features.features.rows(first, std::min(first + step, features.size()));
    const auto* row = piece.data<float>();
    for (int64_t i = 0; i < piece.size(0); ++i, row += dim) {
      if (!wanted[static_cast<size_t>(label[first + i])]) continue;
      sums.row(label[first + i]) += Eigen::Map<const Eigen::RowVectorXf>(row, dim).cast<double>();
      ++images[label[first + i]];
    }
    forget_pages(piece);
  }
  FloatMatrix unit = FloatMatrix::Zero(count, dim);
  for (const int64_t k : classes) {
    if (images[k] > 0) unit.row(k) = unit_rows(sums.row(k) / images[k]).cast<float>();
  }
  return unit;
}

}  // namespace

ClassCentres::ClassCentres(const FeatureSet& features, std::vector<int64_t> classes)
    : features_(features), classes_(std::move(classes)) {}

void ClassCentres::find() {
  if (unit_.size() > 0) return;
  unit_ = compute_centres(features_, classes_);
}

void ClassCentres::cosines(const Array& prototypes, const std::vector<int64_t>& classes, double* cosine) const {
  const int64_t episodes = prototypes.size(0), n = prototypes.size(1), dim = prototypes.size(2);
  const auto* row = prototypes.data<float>();
  for (int64_t i = 0; i < episodes; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < n; ++k, row += dim) {
      const int64_t label = classes[static_cast<size_t>(i * n + k)];
      sum += cosine_to_unit(row, unit_.row(label).data(), dim);
    }
    cosine[i] = sum / static_cast<double>(n);
  }
}

}  // namespace protocom
