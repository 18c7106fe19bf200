#pragma once
#include "protocom/core/progress.h"
#include "protocom/data/feature_set.h"
#include "protocom/fewshot/fitted_method.h"

namespace protocom {

/// Settings of fit_method().
struct FitOptions {
  std::string method;  ///< as make_method takes it
  uint64_t seed = 1;
};

/// Fits a method on the base classes of the features. `knowledge` may be null for a method that needs none. Same inputs
/// and seed, same method. Throws UsageError for a method that needs no fitting or lacks knowledge, Error for features
/// without base classes.
FittedMethod fit_method(const FeatureSet& features, const KnowledgeTable* knowledge, const FitOptions& options,
                        Progress& progress);

}  // namespace protocom
