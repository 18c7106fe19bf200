#pragma once
#include "base/matrix.h"

namespace protocom {

/// The soft composition of CPDE (Zou et al., ACM MM 2020), which enlarges the activations of a feature's strong
/// channels and lessens those of the others: f'_c = f_c a_c with a = d softmax(strength * f / rms(f)), so that the mean
/// of a is 1. The source gives the principle; this form is ours. `feature` [d]; `strength` at least 0, and 0 changes
/// nothing. A factor of the feature is a factor of the result.
Eigen::RowVectorXf enhanced_primitives(const Eigen::RowVectorXf& feature, double strength);

}  // namespace protocom
