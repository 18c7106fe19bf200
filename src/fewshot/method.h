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

/// Features with their classes.
struct LabelledFeatures {
  Array features;               ///< float32 [m, d]; undefined: none
  std::vector<int64_t> labels;  ///< [m], rows of the KnowledgeTable
};

/// What methods may use besides the episodes. A method that needs something finds it here or is refused beforehand
/// (check_needs); what is pointed to must outlive what is prepared.
struct MethodContext {
  const CompletionModel* model = nullptr;
  const KnowledgeTable* classes = nullptr;  ///< over the model's attributes, if there is a model
  const LabelledFeatures* base = nullptr;
  const KnowledgeTable* knowledge = nullptr;  ///< all of it, for methods that align it with what they were fitted on
  const std::vector<std::string>* class_names = nullptr;  ///< [c], what Task::classes and labels number
  Array maps = {};  ///< float16 or float32 [m, c, h, w], of the images of the table that episodes are rows of;
                    ///< undefined: none
};

/// The feature maps of what a method is fitted on. They stay where they are (memory-mapped): rows are read as they are
/// drawn.
struct FitMaps {
  Array maps = {};                 ///< float16 or float32 [m, c, h, w]; undefined: none
  std::vector<int64_t> base = {};  ///< the rows of FitInputs::base in `maps`
  std::vector<int64_t> val = {};   ///< those of FitInputs::val
};

/// Whether a method that can use knowledge but does not need it (`plda`) uses it.
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
  std::vector<std::pair<std::string, Array>> tensors = {};  ///< by name, in the order they are written
  std::vector<std::string> attributes = {};  ///< names of the knowledge that tensors have rows or columns for

  [[nodiscard]] bool empty() const { return tensors.empty(); }
  /// Throws Error when there is no tensor of that name.
  [[nodiscard]] const Array& at(const std::string& name) const;
};

class Method;

/// A method made for the given classes, and what it uses besides their labelled images.
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
  /// Whether it has that need of its spec with these parameters: most methods look at base images in one of several
  /// feature spaces only.
  [[nodiscard]] virtual bool needs(Need need) const { return spec().has(need); }

  /// Throws Error when sizes of the context and of what was fitted do not fit.
  [[nodiscard]] virtual PreparedMethod prepare(const MethodContext& context) const = 0;
  /// Joins the form that answers for it about episodes that are rows of a table, which it may share with other methods
  /// of a group (src/fewshot/fast_form.h), and gives that form: a TaskTable where a method has none of its own.
  /// The context has what the method needs. Throws Error when sizes do not fit.
  [[nodiscard]] virtual const FastForm* join(FastForms& forms) const;

  /// The method with its space adapted to the labelled images of all given classes, and to its unlabelled ones, for
  /// repeated questions about the same classes; prepare() does the same for each episode. Features [m, d],
  /// labels [m] in [0, classes), each of which occurs. Without a method: it stays as it is.
  [[nodiscard]] virtual AdaptedMethod adapted(const FeatureRows& /*features*/, const std::vector<int64_t>& /*labels*/,
                                              int64_t /*classes*/) const {
    return {};
  }

  /// The fitted method as a space for any classes: it adapts to the given ones and drops its knowledge of its
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
