#pragma once
#include <vector>

#include "fewshot/plda/space.h"

namespace protocom {

/// Variances of held-out classes in a space that was not fitted on them. A network separates the classes that it was
/// trained on better than others: images of a new class scatter more, and class means are closer together, most of all
/// in the dimensions in which the old classes differed little. These measurements correct for it. All members are [e].
struct HeldOutVariance {
  DoubleVector predictor;  ///< `between` of the space
  DoubleVector within;     ///< variance of images around their class means
  DoubleVector between;    ///< mean square of class means, minus their sampling error
  DoubleVector residual;   ///< the same for class mean minus predicted mean
  int64_t leading = 0;
};

/// Measures held-out classes. `predicted` [c, e] are their means predicted from knowledge; empty: 0. Throws Error for
/// fewer than two classes and if every class has only one image.
HeldOutVariance held_out_variance(const PldaSpace& space, const UnitMoments& held_out, const DoubleMatrix& predicted);

/// Returns the mean of several, over the dimensions that are leading in all of them.
HeldOutVariance mean_of(const std::vector<HeldOutVariance>& parts);

/// Returns how far the means [c, e] of held-out classes follow their predictions from knowledge, [c, e], in [0, 1]: the
/// least squares factor sum p . m / sum |p|^2; 0 for a prediction of 0. If knowledge is uninformative, predictions are
/// small and the factor is noise of any size, but it hardly counts; shrinking it by its standard error over classes
/// gained nothing on real ones (docs/log/plda.md).
double strength_of_knowledge(const DoubleMatrix& predicted, const DoubleMatrix& means);

/// How a variance over classes follows from that of the fitted space: max(scale * between_i^power, floor) in leading
/// dimensions, floor in the others.
struct VarianceLaw {
  double scale = 1;
  double power = 1;
  double floor = 0;

  /// Returns the law's variances [e] given the fitted ones, `between` [e], of which the first `leading` follow it.
  [[nodiscard]] DoubleVector values(const DoubleVector& between, int64_t leading) const;
};

/// Fits the law to `observed` [e]: power on a grid of .05 in [0, 2] and scale by maximum likelihood of variances with
/// chi-square scatter, floor the mean over the dimensions that are not leading (if there are none, the smallest leading
/// one). An observed variance counts as at least a ten-thousandth of the mean one.
VarianceLaw fit_variance_law(const DoubleVector& observed, const HeldOutVariance& evidence);

/// The laws of one space, and its new unit of length in every dimension.
struct VarianceLaws {
  VarianceLaw between;   ///< of class means around 0
  VarianceLaw residual;  ///< of class means around their predictions from knowledge
  DoubleVector within;   ///< [e]: the held-out classes' own, but nowhere less than the mean of the leading dimensions
};

/// Fits the laws. In dimensions where shrinkage made the variance within classes small it stays so: scaling them up
/// again would undo the shrinkage. In the dimensions that are not leading it is their mean, so that these remain
/// isotropic.
VarianceLaws fit_variance_laws(const HeldOutVariance& evidence);

/// Returns the length in the rescaled space of a unit in the space, [e].
DoubleVector unit_of(const VarianceLaws& laws);

/// Returns the space with within-class variance 1 in every dimension again and the law's `between`.
PldaSpace rescaled(const PldaSpace& space, const VarianceLaws& laws);

/// Returns the variances [e] between classes and around predictions from knowledge in the unit of length of the
/// rescaled space.
DoubleVector between_variance(const PldaSpace& space, const VarianceLaws& laws);
DoubleVector residual_variance(const PldaSpace& space, const VarianceLaws& laws);

}  // namespace protocom
