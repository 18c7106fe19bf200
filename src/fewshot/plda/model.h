#pragma once
#include <memory>
#include <string>
#include <vector>

#include "fewshot/plda/class_mean_prior.h"
#include "fewshot/plda/knowledge_prior.h"
#include "fewshot/plda/space.h"
#include "fewshot/plda/vb.h"

namespace protocom {

/// A number that depends on the labelled images a class has, K: measured with none, one and five, linear in K / (K + 1)
/// between, and as with five from there on.
struct ByShots {
  double none = 1;
  double one = 1;
  double five = 1;

  [[nodiscard]] double at(double shots) const;
};

/// How a model's space follows the labelled images of the classes at hand (plda/detail/adaptation.h).
struct PldaAdaptation {
  /// nu of the inverse Wishart prior of the within-class covariance, in images: so much the fitted covariance counts
  /// against theirs. 0: the space stays as it was fitted.
  double degrees = 0;
  double scale_degrees = 0;   ///< the same for the scale of that covariance alone
  double center_classes = 0;  ///< how many classes the fitted center counts as, against those at hand
  bool isotropic = false;     ///< no space was fitted: both covariances are multiples of I, found from the images alone
  bool unlabelled = false;    ///< images without labels take part in the answers: a batch, a pool
  /// What the variance between the classes at hand is larger by than the fitted one, in units of that within classes,
  /// before their images are looked at (plda/detail/added_between.h); negative: it stays as it was fitted.
  double added_between = -1;
  double fixed_degrees = 0;       ///< nu as requested; 0: labelled images choose it
  double fixed_class_means = -1;  ///< what class_mean_weight() gives, as requested; negative: it follows the images

  [[nodiscard]] bool adapts() const { return degrees > 0; }
};

/// Everything that classifying with the Bayesian model needs beside the images of the classes.
struct PldaModel {
  PldaSpace space;                                  ///< calibrated: variance 1 within classes
  DoubleVector residual;                            ///< [e], variance of a class mean around what knowledge predicts
  std::shared_ptr<const KnowledgePrior> knowledge;  ///< null: fitted without descriptions
  KernelRidgeOptions knowledge_options;             ///< of the kernel ridge regression that it is or has as a part
  PldaVbOptions vb;                                 ///< steps, trust, spread and concentration that were chosen
  ByShots inductive_scale;                          ///< scores times this, through softmax, are probabilities
  ByShots transductive_scale;                       ///< the same for variational EM
  /// P(one of the classes) = 1 / (1 + alike + exp(-(slope r + offset))) when half of the images are of other classes,
  /// with r = (log mean_k exp(scale s_k)) / scale less the log predictive of a class never seen; s_k: of class k, and
  /// scale the inductive one. `alike` is the share of those others that look just like one of the classes.
  ByShots known_slope;
  ByShots known_offset = {0, 0, 0};
  ByShots known_alike = {0, 0, 0};
  bool known_by_best = false;  ///< r has the best class's s_k in place of that mean, without `alike`: adapted models
  PldaAdaptation adaptation;
  /// Unlabelled images of the classes of later tasks, float32 [u, d], which a model that adapts learns from
  /// too; undefined: none.
  Array unlabelled;
  /// The settings of its space that labelled images chose, as a sentence; empty: it stays as it was fitted. Files do
  /// not keep it.
  std::string chosen;
  double explained = 0;           ///< share of the variance between held-out classes that knowledge explains
  double explained_left_out = 0;  ///< the same of base class means in the space of all of them, by leave-one-out

  /// The prior of classes [n], before their images: mean [n, e], variance [1, e], or [n, e] where some class has
  /// no description (it gets mean 0 and the variance between classes). `n` counts where `descriptions` is
  /// empty or the model has no knowledge.
  [[nodiscard]] ClassMeanPrior prior(const KnowledgeTable& descriptions, int64_t n) const;
};

}  // namespace protocom
