#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/episode_batch.h"
#include "fewshot/method_spec.h"
#include "knowledge/knowledge_table.h"

namespace protocom {

struct CompletionModel;
class FastForm;
class FastForms;

/// Features with their classes.
struct LabelledFeatures {
  at::Tensor features;  ///< float32 [m, d]
  at::Tensor labels;    ///< int64 [m], rows of the KnowledgeTable
};

/// Completes prototypes [b, n, d] of the classes int64 [b, n].
using CompletePrototypes = std::function<at::Tensor(const at::Tensor& prototypes, const at::Tensor& classes)>;

/// What methods may use besides the episodes. A method that needs something finds it here or is refused beforehand
/// (check_needs); what is pointed to must outlive the scorers.
struct MethodContext {
  const CompletionModel* model = nullptr;
  const KnowledgeTable* classes = nullptr;  ///< over the model's attributes, if there is a model
  const LabelledFeatures* base = nullptr;
  const KnowledgeTable* knowledge = nullptr;  ///< all of it, for methods that align it with what they were fitted on
  const std::vector<std::string>* class_names = nullptr;  ///< [c], what EpisodeBatch::classes and labels number
  at::Tensor maps = {};  ///< float16 or float32 [m, c, h, w], of the images of the table that episodes are rows of;
                         ///< undefined: none
  CompletePrototypes complete = {};  ///< instead of the model at test time; training draws attribute features
  at::Tensor gamma = {};             ///< instead of the model's gamma: one value, learned in training
};

/// Where a method compares features, if that is a function of each feature vector by itself: a table of features goes
/// through it once, however many episodes draw from the table. Thread-safe.
class FeatureTransform {
 public:
  virtual ~FeatureTransform() = default;
  /// float32 [..., d] to [..., e], every row by itself.
  [[nodiscard]] virtual at::Tensor map(const at::Tensor& features) const = 0;
  /// Whether both map alike, so that methods can share what they give.
  [[nodiscard]] virtual bool same_as(const FeatureTransform& other) const { return this == &other; }
};

/// What a method that looks at each class by itself makes of classes: tensors of a row a class, [n, ...].
using PlacedClasses = std::vector<at::Tensor>;

/// The scorer of a method to which a class is a row of some tensors, whatever the other classes are, and which answers
/// by those rows. Classes that are asked about again and again are placed once, and change one by one. Thread-safe.
class ClassPlacer {
 public:
  virtual ~ClassPlacer() = default;
  /// The classes of one episode (b = 1) with a support_mask, whose features have not been through a
  /// FeatureTransform; of its queries only [1, 0, d] is looked at.
  [[nodiscard]] virtual PlacedClasses place(const EpisodeBatch& batch) const = 0;
  /// What Scorer::score() says of queries float32 [q, d] in an episode of these classes, but for rounding.
  [[nodiscard]] virtual EpisodeScores score(const PlacedClasses& classes, const at::Tensor& query) const = 0;
};

/// A method prepared for a set of classes. Thread-safe.
class Scorer {
 public:
  virtual ~Scorer() = default;
  /// Scores of every query. What one episode gets does not depend on the others of the batch, nor on the order of its
  /// queries. The methods of the paper are differentiable in features, network and gamma. Throws Error for a batch
  /// whose parts do not fit one another (check_batch).
  [[nodiscard]] EpisodeScores score(const EpisodeBatch& batch) const;
  /// The same when every feature of the batch has been through feature_transform(); supports that are not there are
  /// zeros.
  [[nodiscard]] EpisodeScores score_mapped(const EpisodeBatch& batch) const;
  /// Null: the method takes features as they are.
  [[nodiscard]] virtual std::shared_ptr<const FeatureTransform> feature_transform() const { return nullptr; }
  /// Null: a class cannot be placed by itself. Lives as long as the scorer.
  [[nodiscard]] virtual const ClassPlacer* placer() const { return nullptr; }

 private:
  /// Labelled images that a class must have.
  [[nodiscard]] virtual int64_t fewest_shots() const { return 1; }
  /// score_mapped() of a batch that has been checked: what a method implements.
  [[nodiscard]] virtual EpisodeScores answer(const EpisodeBatch& batch) const = 0;
};

/// The feature maps of what a method is fitted on. They stay where they are (memory-mapped): rows are read as they are
/// drawn.
struct FitMaps {
  at::Tensor maps = {};  ///< float16 or float32 [m, c, h, w]; undefined: none
  at::Tensor base = {};  ///< int64, the rows of FitInputs::base in `maps`
  at::Tensor val = {};   ///< those of FitInputs::val
};

/// Whether a method that can do with knowledge or without (`plda`) follows what it is given.
enum class KnowledgeUse {
  kAuto,    ///< where it gains on classes that are held out of the fit
  kAlways,  ///< classes without images need it
  kNever
};

/// What a method is fitted on.
struct FitInputs {
  LabelledFeatures base;
  LabelledFeatures val = {};                              ///< of other classes, to choose settings on; may be undefined
  const KnowledgeTable* knowledge = nullptr;              ///< may be null
  const std::vector<std::string>* class_names = nullptr;  ///< [c], what the labels number
  uint64_t seed = 1;
  KnowledgeUse knowledge_use = KnowledgeUse::kAuto;
  Progress* progress = &Progress::none();
  FitMaps maps = {};  ///< for methods with Need::kFeatureMaps
};

/// What fitting found.
struct MethodState {
  std::vector<std::pair<std::string, at::Tensor>> tensors = {};  ///< by name, in the order they are written
  std::vector<std::string> attributes = {};  ///< names of the knowledge that tensors have rows or columns for

  [[nodiscard]] bool empty() const { return tensors.empty(); }
  /// Throws Error when there is no tensor of that name.
  [[nodiscard]] const at::Tensor& at(const std::string& name) const;
};

class Method;

/// A method made for the classes at hand, and what counts beside their labelled images.
struct AdaptedMethod {
  std::shared_ptr<const Method> method = nullptr;
  SoftSupports unlabelled = {};
};

/// A method with its parameters. See methods.h for how one is found, and docs/methods.md for how one is added.
class Method {
 public:
  Method() = default;
  virtual ~Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;

  [[nodiscard]] const MethodSpec& spec() const { return *spec_; }
  /// The name with the parameters that differ from their defaults, as it may be typed: "gauss-fusion:scale=20".
  [[nodiscard]] const std::string& label() const { return label_; }

  /// Throws Error when sizes of the context and of what was fitted do not fit.
  [[nodiscard]] virtual std::unique_ptr<Scorer> prepare(const MethodContext& context) const = 0;
  /// Joins its hand-made form for episodes that are rows of a table, which it may share with other methods of a group
  /// (src/fewshot/detail/fast_form.h), and gives that form; null: it has none for this context, its scorer is used. The
  /// context has what the method needs. Throws Error when sizes do not fit.
  [[nodiscard]] virtual const FastForm* join(FastForms& /*forms*/) const { return nullptr; }

  /// The method with what the labelled images of all classes at hand, and its unlabelled ones, say of its space, for
  /// those who ask about the same classes again and again; prepare() does the same for each episode. Features [m, d],
  /// labels int64 [m] in [0, classes), each of which occurs. Without a method: it stays as it is.
  [[nodiscard]] virtual AdaptedMethod adapted(const at::Tensor& /*features*/, const at::Tensor& /*labels*/,
                                              int64_t /*classes*/) const {
    return {};
  }

  /// The fitted method as a space for any classes: it adapts to those at hand and has forgotten what it knew of its
  /// own. Null: it has no space.
  [[nodiscard]] virtual std::unique_ptr<Method> as_space() const { return nullptr; }

  /// Fits it; only for methods with Need::kFitting. Same inputs, same state. Throws Error.
  virtual void fit(const FitInputs& inputs);
  /// What fitting found, in sentences for its user; empty before and after loading.
  [[nodiscard]] virtual std::vector<std::string> findings() const { return {}; }
  /// The same and more for programs, as the file of the fitted method keeps it; empty before and after loading.
  [[nodiscard]] virtual nlohmann::json details() const { return {}; }
  /// What fitting found; empty before.
  [[nodiscard]] virtual MethodState state() const { return {}; }
  /// Takes a state() back. Throws Error that names a tensor that is missing, of another shape or not finite.
  virtual void load(const MethodState& state);

 private:
  friend std::unique_ptr<Method> make_method(const std::string& text);
  const MethodSpec* spec_ = nullptr;
  std::string label_;
};

}  // namespace protocom
