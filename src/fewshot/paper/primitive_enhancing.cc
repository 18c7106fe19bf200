#include "fewshot/paper/primitive_enhancing.h"

#include <cmath>

namespace protocom {

Eigen::RowVectorXf enhanced_primitives(const Eigen::RowVectorXf& feature, double strength) {
  constexpr double kAboveZero = 1e-12;
  const Eigen::RowVectorXd f = feature.cast<double>();
  const auto dim = static_cast<double>(f.size());
  const Eigen::RowVectorXd steep = strength / std::sqrt(f.squaredNorm() / dim + kAboveZero) * f;
  const Eigen::RowVectorXd share = (steep.array() - steep.maxCoeff()).exp();
  return (dim / share.sum() * f.cwiseProduct(share)).cast<float>();
}

}  // namespace protocom
