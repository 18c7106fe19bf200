#pragma once
#include "base/progress.h"
#include "datasets/feature_maps.h"
#include "datasets/feature_set.h"
#include "fewshot/fitted_method.h"

namespace protocom {

/// Settings of fit_method().
struct FitRecipe {
  std::string method = "plda";  ///< as for make_method
  uint64_t seed = 1;
  /// Whether it sees the val classes, as most methods do to choose their step or settings on; without them base classes
  /// are left out for that. False is for choosing among fitted methods on val.
  bool sees_val = true;
  KnowledgeUse knowledge_use = KnowledgeUse::kAuto;
};

/// The inputs of a fit; the references must outlive it.
struct FitSources {
  const FeatureSet& features;
  const KnowledgeTable* knowledge = nullptr;  ///< may be null for a method that needs none
  const FeatureMaps* maps = nullptr;          ///< for the same images; may be null for a method that needs none
};

/// Fits a method on the base classes of a file of features (the other fit_method() takes arrays). Throws Error also for
/// maps of other images.
FittedMethod fit_method(const FitSources& from, const FitRecipe& options, Progress& progress);

}  // namespace protocom
