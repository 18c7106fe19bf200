#include "fewshot/paper/primitive_enhancing.h"

#include <ATen/ATen.h>

#include <cmath>

namespace protocom {
namespace {

constexpr double kAboveZero = 1e-12;  // a feature of zeros has a slope too

}  // namespace

at::Tensor enhanced_primitives(const at::Tensor& features, double strength) {
  const at::Tensor mean_square = features.square().mean(-1, /*keepdim=*/true);
  const at::Tensor relative = features * (mean_square + kAboveZero).rsqrt();
  return features * (strength * relative).softmax(-1) * static_cast<double>(features.size(-1));
}

Eigen::RowVectorXf enhanced_primitives(const Eigen::RowVectorXf& feature, double strength) {
  const Eigen::RowVectorXd f = feature.cast<double>();
  const auto dim = static_cast<double>(f.size());
  const Eigen::RowVectorXd steep = strength / std::sqrt(f.squaredNorm() / dim + kAboveZero) * f;
  const Eigen::RowVectorXd share = (steep.array() - steep.maxCoeff()).exp();
  return (dim / share.sum() * f.cwiseProduct(share)).cast<float>();
}

}  // namespace protocom
