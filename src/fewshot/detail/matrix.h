#pragma once
// Eigen's products go to the system's BLAS, which chooses its kernels for the processor; Eigen's own are those of the
// compiler's baseline. All sources see Eigen by this header alone, so that they agree.
#ifdef EIGEN_CORE_H
#error "include fewshot/detail/matrix.h in place of Eigen's headers"
#endif
#define EIGEN_USE_BLAS
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace protocom {

/// Matrices that lie row by row in memory, as features do.
using DoubleMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using FloatMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using DoubleVector = Eigen::VectorXd;

}  // namespace protocom
