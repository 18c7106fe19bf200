#pragma once
#include "base/matrix.h"

namespace protocom {

/// Applies the soft composition of CPDE (Zou et al., ACM MM 2020), which amplifies a feature's strong channels and
/// attenuates the others: f'_c = f_c a_c with a = d softmax(strength * f / rms(f)), so that the mean of a is 1. The
/// source gives the principle; this form is ours. `feature` [d]; `strength` at least 0; 0 changes nothing. Scaling the
/// feature scales the result.
Eigen::RowVectorXf enhanced_primitives(const Eigen::RowVectorXf& feature, double strength);

}  // namespace protocom
