#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/array.h"
#include "base/progress.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/method_spec.h"
#include "fewshot/prepared_method.h"
#include "fewshot/task_images.h"
#include "knowledge/knowledge_table.h"

namespace protocom {

struct CompletionModel;
class FastForm;
class FastForms;

/// Features and their classes.
struct LabelledFeatures {
  Array features;               ///< float32 [m, d]; undefined: none
  std::vector<int64_t> labels;  ///< [m], rows of the KnowledgeTable
};

/// What methods may use besides the episodes. A method whose needs are not met is rejected beforehand (check_needs);
/// the pointers must stay valid as long as what is prepared.
struct MethodContext {
  const CompletionModel* model = nullptr;
  const KnowledgeTable* classes = nullptr;  ///< over the model's attributes, if there is a model
  const LabelledFeatures* base = nullptr;
  const KnowledgeTable* knowledge = nullptr;  ///< all of it, for methods that align it with what they were fitted on
  const std::vector<std::string>* class_names = nullptr;  ///< [c], the classes that Task::classes and labels index
  Array maps = {};  ///< float16 or float32 [m, c, h, w], for the images of the table that contains the episodes' rows;
                    ///< undefined: none
};

/// The feature maps that a method is fitted on. They stay in place (memory-mapped): rows are read as they are drawn.
struct FitMaps {
  Array maps = {};                 ///< float16 or float32 [m, c, h, w]; undefined: none
  std::vector<int64_t> base = {};  ///< the rows of FitInputs::base in `maps`
  std::vector<int64_t> val = {};   ///< the rows of FitInputs::val in `maps`
};

/// Whether a method that can use knowledge but does not need it (`plda`) uses it.
enum class KnowledgeUse {
  kAuto,    ///< if it improves accuracy on classes held out of the fit
  kAlways,  ///< even if it does not improve accuracy: classes without images need it
  kNever
};

/// The inputs of a fit.
struct FitInputs {
  LabelledFeatures base;
  LabelledFeatures val = {};                  ///< features of other classes, for choosing settings; may be undefined
  const KnowledgeTable* knowledge = nullptr;  ///< may be null
  const std::vector<std::string>* class_names = nullptr;  ///< [c], the classes that the labels index
  uint64_t seed = 1;
  KnowledgeUse knowledge_use = KnowledgeUse::kAuto;
  Progress* progress = &Progress::none();
  FitMaps maps = {};  ///< for methods with Need::kFeatureMaps
};

/// The result of a fit.
struct MethodState {
  std::vector<std::pair<std::string, Array>> tensors = {};  ///< by name, in the order in which they are written
  std::vector<std::string> attributes = {};  ///< names of the attributes that rows or columns of tensors belong to

  [[nodiscard]] bool empty() const { return tensors.empty(); }
  /// Returns the tensor of that name. Throws Error if there is none.
  [[nodiscard]] const Array& at(const std::string& name) const;
};

class Method;

/// A method made for the classes given, and what it uses besides their labelled images.
struct AdaptedMethod {
  std::shared_ptr<const Method> method = nullptr;
  SoftSupports unlabelled = {};
};

/// A method with its parameters. See methods.h for how to find one, and docs/methods.md for how to add one.
class Method {
 public:
  Method() = default;
  virtual ~Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;

  [[nodiscard]] const MethodSpec& spec() const { return *spec_; }
  /// The name with the parameters that differ from their defaults, as a user types it: "gauss-fusion:scale=20".
  [[nodiscard]] const std::string& label() const { return label_; }
  /// Whether it has that need of its spec with these parameters: most methods use base images only in one of several
  /// feature spaces.
  [[nodiscard]] virtual bool needs(Need need) const { return spec().has(need); }

  /// Prepares the method for the context's classes. Throws Error if sizes of the context and of the fitted state
  /// differ.
  [[nodiscard]] virtual PreparedMethod prepare(const MethodContext& context) const = 0;
  /// Joins the form that answers episodes that are rows of a table, which it may share with other methods of a group
  /// (src/fewshot/fast_form.h), and returns that form: a TaskTable if the method has none of its own. The context meets
  /// the method's needs. Throws Error if sizes do not match.
  [[nodiscard]] virtual const FastForm* join(FastForms& forms) const;

  /// Returns the method with its space adapted to the labelled images of all classes given, and to its unlabelled ones,
  /// for repeated queries about the same classes; prepare() does the same for each episode. Features [m, d], labels [m]
  /// in [0, classes), each of which occurs. Returns no method if it does not adapt.
  [[nodiscard]] virtual AdaptedMethod adapted(const FeatureRows& /*features*/, const std::vector<int64_t>& /*labels*/,
                                              int64_t /*classes*/) const {
    return {};
  }

  /// Returns the fitted method as a space for any classes: it adapts to the ones given and drops the knowledge of the
  /// classes it was fitted on. Null: it has no space.
  [[nodiscard]] virtual std::unique_ptr<Method> as_space() const { return nullptr; }

  /// Fits the method; only for methods with Need::kFitting. Deterministic. Throws Error.
  virtual void fit(const FitInputs& inputs);
  /// What the fit found, in sentences for users; empty before fitting and after loading.
  [[nodiscard]] virtual std::vector<std::string> findings() const { return {}; }
  /// The findings and more for programs, as stored in the fitted method's file; empty before fitting and after loading.
  [[nodiscard]] virtual nlohmann::json details() const { return {}; }
  /// The fitted state; empty before fitting.
  [[nodiscard]] virtual MethodState state() const { return {}; }
  /// Restores a state(). Throws Error that names a tensor that is missing, of another shape or not finite.
  virtual void load(const MethodState& state);

 private:
  friend std::unique_ptr<Method> make_method(const std::string& text);
  const MethodSpec* spec_ = nullptr;
  std::string label_;
};

}  // namespace protocom
