#pragma once
#include <memory>
#include <string>
#include <vector>

#include "fewshot/plda/class_mean_prior.h"
#include "fewshot/plda/knowledge_prior.h"
#include "fewshot/plda/space.h"
#include "fewshot/plda/vb.h"

namespace protocom {

/// A number that depends on the number K of labelled images per class: measured with none, one and five, linear in K /
/// (K + 1) between, and constant from five on.
struct ByShots {
  double none = 1;
  double one = 1;
  double five = 1;

  [[nodiscard]] double at(double shots) const;
};

/// How a model's space follows the labelled images of the current classes (plda/detail/adaptation.h).
struct PldaAdaptation {
  /// nu of the inverse Wishart prior of the within-class covariance, in images: the weight of the fitted covariance
  /// against theirs. 0: the space stays as fitted.
  double degrees = 0;
  double scale_degrees = 0;   ///< the same for only the scale of that covariance
  double center_classes = 0;  ///< number of classes that the fitted center counts as, against the current ones
  bool isotropic = false;     ///< no space was fitted: both covariances are multiples of I, from the images alone
  bool unlabelled = false;    ///< whether unlabelled images contribute to the answers: a batch, a pool
  /// The prior excess of the variance between the current classes over the fitted one, in units of that within classes,
  /// before their images are seen (plda/detail/added_between.h); negative: it stays as fitted.
  double added_between = -1;
  double fixed_degrees = 0;       ///< requested nu; 0: labelled images choose it
  double fixed_class_means = -1;  ///< requested class_mean_weight(); negative: it depends on the images

  [[nodiscard]] bool adapts() const { return degrees > 0; }
};

/// Everything needed to classify with the Bayesian model besides the images of the classes.
struct PldaModel {
  PldaSpace space;        ///< calibrated: variance 1 within classes
  DoubleVector residual;  ///< [e], variance of a class mean around its prediction from knowledge
  std::shared_ptr<const KnowledgePrior> knowledge;  ///< null: fitted without descriptions
  KernelRidgeOptions knowledge_options;             ///< of the kernel ridge regression that the prior is or contains
  PldaVbOptions vb;                                 ///< chosen steps, trust, spread and concentration
  ByShots inductive_scale;                          ///< multiplies scores to give probabilities through softmax
  ByShots transductive_scale;                       ///< the same for scores of variational EM
  /// P(one of the classes) = 1 / (1 + alike + exp(-(slope r + offset))) if half of the images are of other classes,
  /// with r = (log mean_k exp(scale s_k)) / scale minus the log predictive of an unseen class; s_k: of class k, and
  /// scale the inductive one. `alike` is the share of the other images that look just like one of the classes.
  ByShots known_slope;
  ByShots known_offset = {0, 0, 0};
  ByShots known_alike = {0, 0, 0};
  bool known_by_best = false;  ///< r has the best class's s_k instead of that mean, without `alike`: for adapted models
  PldaAdaptation adaptation;
  /// Unlabelled images of the classes of later tasks, float32 [u, d], which a model that adapts also learns from;
  /// undefined: none.
  Array unlabelled;
  /// The settings of its space chosen by labelled images, as a sentence; empty: it is as fitted. Not stored in files.
  std::string chosen;
  double explained = 0;           ///< share of the variance between held-out classes that knowledge explains
  double explained_left_out = 0;  ///< the same for base class means in the space of all of them, by leave-one-out

  /// Returns the prior of classes [n], before their images: mean [n, e], variance [1, e], or [n, e] if some class has
  /// no description (it gets mean 0 and the variance between classes). `n` is used if `descriptions` is empty or the
  /// model has no knowledge.
  [[nodiscard]] ClassMeanPrior prior(const KnowledgeTable& descriptions, int64_t n) const;
};

}  // namespace protocom
