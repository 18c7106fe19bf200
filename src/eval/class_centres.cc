#include "eval/class_centres.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "protocom/nn/unit_vectors.h"

namespace protocom {
namespace {

/// Sums in 16 lanes, a vector of GCC and Clang: in the same order on every processor and for every number of threads.
float cosine_to_unit(const float* vector, const float* unit, int64_t dim) {
  using Lanes = float __attribute__((vector_size(64)));
  constexpr int64_t kLanes = sizeof(Lanes) / sizeof(float);
  Lanes products{}, squares{};
  int64_t i = 0;
  for (; i + kLanes <= dim; i += kLanes) {
    Lanes x, y;
    std::memcpy(&x, vector + i, sizeof(Lanes));
    std::memcpy(&y, unit + i, sizeof(Lanes));
    products += x * y;
    squares += x * x;
  }
  float product = 0, square = 0;
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    product += products[lane];
    square += squares[lane];
  }
  for (; i < dim; ++i) {
    product += vector[i] * unit[i];
    square += vector[i] * vector[i];
  }
  return product / std::max(std::sqrt(square), 1e-12F);
}

}  // namespace

ClassCentres::ClassCentres(const FeatureSet& features, const std::vector<int64_t>& classes)
    : unit_(at::zeros({static_cast<int64_t>(features.class_names.size()), features.dim()})) {
  const auto rows = features.rows_by_class();
  for (const int64_t label : classes) {
    const auto& own = rows[static_cast<size_t>(label)];
    if (own.empty()) continue;
    const at::Tensor images = features.features.index_select(0, at::tensor(own, at::kLong));
    // In double: a float's sum of thousands of images loses digits.
    unit_[label] = unit_vectors(images.mean(0, /*keepdim=*/false, at::kDouble)).to(at::kFloat);
  }
}

void ClassCentres::cosines(const at::Tensor& prototypes, const std::vector<int64_t>& classes, double* cosine) const {
  const at::Tensor rows = prototypes.contiguous();
  const int64_t episodes = rows.size(0), n = rows.size(1), dim = rows.size(2);
  const float* row = rows.data_ptr<float>();
  for (int64_t i = 0; i < episodes; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < n; ++k, row += dim) {
      const int64_t label = classes[static_cast<size_t>(i * n + k)];
      sum += cosine_to_unit(row, unit_.data_ptr<float>() + label * dim, dim);
    }
    cosine[i] = sum / static_cast<double>(n);
  }
}

}  // namespace protocom
