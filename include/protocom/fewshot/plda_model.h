#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "protocom/fewshot/class_prior.h"
#include "protocom/fewshot/plda_posterior.h"
#include "protocom/fewshot/plda_space.h"
#include "protocom/fewshot/plda_vb.h"

namespace protocom {

/// Everything that classifying with the Bayesian model needs beside the images of the classes.
struct PldaModel {
  PldaSpace space;                       ///< calibrated: variance 1 within classes
  at::Tensor residual;                   ///< [e], variance of a class mean around what knowledge predicts
  std::optional<KernelRidge> knowledge;  ///< none: fitted without descriptions
  KernelRidgeOptions knowledge_options;  ///< what it was fitted with
  PldaVbOptions vb;                      ///< steps, trust, spread and concentration that were chosen
  double inductive_scale = 1;            ///< log predictives times this, through softmax, are probabilities
  double transductive_scale = 1;         ///< the same for plda_vb_scores
  double explained = 0;                  ///< share of the variance between held-out classes that knowledge explains

  /// What is believed of classes [n] before their images, in float32: mean [n, e], variance [e], or [n, e] where some
  /// class has no description (it gets mean 0 and the variance between classes). `n` counts where `descriptions` is
  /// empty or the model has no knowledge.
  [[nodiscard]] ClassMeanPrior prior(const ClassDescriptions& descriptions, int64_t n) const;
  /// The prior of prototypes [n, d] that something else completed, in the features' own space, with the share of the
  /// variance between classes that it leaves unexplained.
  [[nodiscard]] ClassMeanPrior given_prior(const at::Tensor& completed, double unexplained) const;
};

/// One sentence: "Knowledge explains 28 % of what distinguishes classes that the space was not fitted on."
std::string knowledge_sentence(const PldaModel& model);

}  // namespace protocom
