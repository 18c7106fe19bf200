#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fewshot/plda/model.h"

namespace protocom {

/// The inputs of fitting a PldaModel. Labels are rows of the descriptions.
struct PldaFitInputs {
  Array base_features;               ///< float32 [m, d]
  std::vector<int64_t> base_labels;  ///< [m]
  Array val_features = {};           ///< [v, d], features of other classes; undefined: only base classes are held out
  std::vector<int64_t> val_labels = {};  ///< [v]
  KnowledgeTable descriptions;           ///< descriptions of all classes; empty: no knowledge
};

/// How the settings of a model are chosen.
struct PldaFitOptions {
  std::string prior = "kernel-ridge";  ///< one of prior_names(), used if there is knowledge
  /// The first is kept unless another is surely better. If several are given, and there are fewer than 20 base classes
  /// or 1000 images beyond one per class, .85 is tried after them; with fewer than 5 or 300 it comes first.
  std::vector<double> shrinkages = {0.1, 0.02, 0.3, 0.6};
  /// Factors of the variance between classes in dimensions in which base classes do not differ: few base classes show
  /// few of the dimensions in which others differ.
  std::vector<double> floors = {1, 2, 4};
  /// Factors of the variance measured around predictions from knowledge, for tasks of many classes: dimensions are not
  /// independent, and with the measured variance a first image counts for too much among many classes.
  std::vector<double> variances_around = {1, 0.7, 0.5};
  int64_t folds = 4;             ///< of the cross-validation over base classes (2 if there are fewer than 20)
  int64_t tasks = 60;            ///< drawn for each number of shots and each distribution of queries
  uint64_t seed = 1;             ///< for the parts and the tasks
  bool only_if_it_pays = false;  ///< leave descriptions out if knowledge_pays() is false
};

/// A setting that was tried.
struct PldaTrial {
  std::string what;     ///< "knowledge", "shrinkage, floor", "variance around knowledge", "strength of knowledge" or
                        ///< "trust, spread"
  std::string setting;  ///< "0.1, 2"
  double figure = 0;    ///< the figure that it was judged by
  bool chosen = false;
  std::string unit = {};  ///< unit of the figure, in words: "nats of log loss"
};

/// The gain in accuracy from knowledge on 5-way tasks of held-out classes, one image at a time.
struct KnowledgeGain {
  int64_t k_shot = 0;
  double without = 0;  ///< accuracy in percent of the same model and tasks without knowledge
  double gain = 0;     ///< points, on left-out base classes
  /// Expected gain on half as many other classes, at 95 %: from the gain of the classes left out to the gain they would
  /// have with a prior fitted on all base classes.
  double low = 0, high = 0;
};

/// Whether knowledge gains with one image per class (the first of `gains`). More is not required: near 100 % no gain is
/// certain, and classes without images need it. True if nothing was measured: knowledge is not followed then.
bool knowledge_pays(const std::vector<KnowledgeGain>& gains);

/// Returns "Knowledge adds 4.2 to 6.4 points with 1 image per class (58.0 % without knowledge), adds nothing measurable
/// with 5 images per class (74.0 % without knowledge), on held-out classes."; empty if nothing was measured.
std::string knowledge_gain_sentence(const std::vector<KnowledgeGain>& gains);

/// A fitted model and how it was chosen.
struct PldaFit {
  PldaModel model;
  std::vector<PldaTrial> tried;
  std::vector<KnowledgeGain> gains = {};  ///< with 1 image per class and more; empty without knowledge
  bool left_out = false;                  ///< knowledge was given but did not gain: the model has none
  double shrinkage = 0;                   ///< of the space
  double floor = 1;                       ///< factor of the variance where base classes show none
  /// Factor of predictions from knowledge; empty without knowledge, and if it could not be measured: it is 0 then.
  std::optional<double> strength = {};
};

/// Returns one sentence: "Knowledge explains 28 % of the variance between held-out classes."
std::string knowledge_sentence(const PldaFit& fit);

/// Fits the model and chooses every setting on classes that the space was not fitted on, never on novel ones:
///   - the prior's settings by leaving base classes out (choose_prior);
///   - the laws of the variances (fit_variance_laws) from base classes left out in parts and from val classes, and
///     their geometric mean, since a few val classes alone are too particular;
///   - how far predictions of the prior are followed by the same classes (strength_of_knowledge), averaged over
///     left-out base classes and val classes: a regression on few base classes promises too much;
///   - shrinkage, and a factor of the variance in dimensions in which base classes do not differ, by the accuracy of
///     1-shot and 5-shot tasks of val classes (without val: of the base classes left out); the factor of the variance
///     around predictions from knowledge by tasks of 50 to 100 classes, if as many are held out together; trust and
///     spread by the accuracy of variational EM with balanced and Dirichlet(1/2) queries. For these five, the first
///     value is kept unless another's gain on the same tasks exceeds its standard error;
///   - the scales that give probabilities by the log loss of tasks with 0 (if there is knowledge), 1 and 5 images per
///     class, balanced and Dirichlet(1/2) queries, each the best of a grid; P(known) by logistic regression on tasks in
///     which half of the classes are not given.
/// With fewer than 4 base classes and as few val classes nothing can be measured: the laws then are the fitted
/// variances with a floor of 5 % of their mean, and knowledge is not followed. The space is computed in float64, the
/// tasks are scored in float32. Throws Error as PldaSpaceFitter.
PldaFit fit_plda(const PldaFitInputs& inputs, const PldaFitOptions& options = {});

}  // namespace protocom
