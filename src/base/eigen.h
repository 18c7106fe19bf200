#pragma once
// Eigen's products use the system's BLAS, which chooses its kernels for the processor; Eigen's own are those of the
// compiler's baseline. All sources include Eigen only through this header, so that they agree.
#ifdef EIGEN_CORE_H
#error "include base/eigen.h in place of Eigen's headers"
#endif
#define EIGEN_USE_BLAS
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Cholesky>
#include <Eigen/Core>
