#pragma once

namespace protocom {

/// Makes OpenBLAS use the kernels of the newest processor it supports if this one is newer: Debian 12's 0.3.21 falls
/// back to those of 2004 (Prescott) on later processors, a sixth of the speed. Does nothing if OPENBLAS_CORETYPE is
/// set, another BLAS is loaded or the processor has no AVX2. Call it before the first operator.
void choose_blas_kernels();

}  // namespace protocom
