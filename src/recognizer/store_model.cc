#include "recognizer/store_model.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "datasets/feature_preprocessing.h"
#include "fewshot/methods.h"

namespace protocom {
namespace {

/// Name of the tensor of unlabelled images in the state of a method that learns from them.
constexpr const char* kUnlabelledTensor = "unlabelled";

using NamedArray = std::pair<std::string, Array>;

auto find_tensor(std::vector<NamedArray>& tensors, const char* name) {
  return std::find_if(tensors.begin(), tensors.end(), [&](const NamedArray& one) { return one.first == name; });
}

std::shared_ptr<const Method> method_in(const std::string& label, const MethodState& state) {
  std::unique_ptr<Method> made = make_method(label);
  made->load(state);
  return made;
}

}  // namespace

std::vector<std::string> StoreModel::attributes() const {
  return completion ? completion->attributes : fitted->method->state().attributes;
}

int64_t StoreModel::feature_dim() const { return completion ? completion->sizes.feature_dim : fitted->feature_dim; }

std::string StoreModel::default_method() const {
  return fitted ? fitted->method->label() : completion->inductive_method;
}

std::string StoreModel::transductive_method() const {
  const std::string file = fitted ? fitted->method->spec().name : "a completion model";
  for (const MethodSpec* spec : method_specs()) {
    const bool takes_it = fitted ? spec->name == file || spec->fitted_as == file : spec->has(Need::kCompletionModel);
    if (takes_it && spec->sees == Sees::kAllQueries) return spec->name;
  }
  fail_usage("'{}' has no transductive method of its own: name the method", file);
}

bool StoreModel::learns_from_unlabelled() const { return fitted && protocom::learns_from_unlabelled(*fitted->method); }

bool learns_from_unlabelled(const Method& method) {
  MethodState state = method.state();
  return find_tensor(state.tensors, "adaptation.degrees") != state.tensors.end();  // docs/formats.md
}

int64_t unlabelled_in(MethodState state) {
  const auto held = find_tensor(state.tensors, kUnlabelledTensor);
  return held == state.tensors.end() ? 0 : held->second.size(0);
}

std::shared_ptr<const Method> with_unlabelled(const std::shared_ptr<const Method>& method, const Array& images) {
  if (!images.defined() || images.size(0) == 0 || !learns_from_unlabelled(*method)) return method;
  MethodState state = method->state();
  const auto held = find_tensor(state.tensors, kUnlabelledTensor);
  if (held == state.tensors.end())
    state.tensors.emplace_back(kUnlabelledTensor, images);
  else
    held->second = Array::joined({held->second.to(NumberType::kFloat32), images});
  return method_in(method->label(), state);
}

std::shared_ptr<const Method> without_unlabelled(const std::shared_ptr<const Method>& method) {
  MethodState state = method->state();
  const auto held = find_tensor(state.tensors, kUnlabelledTensor);
  if (held == state.tensors.end()) return method;
  state.tensors.erase(held);
  return method_in(method->label(), state);
}

void check_is_for_recognizers(const Method& method) {
  const MethodSpec& spec = method.spec();
  if (method.needs(Need::kBaseFeatures))
    fail_usage("'{}' needs features of base classes, which a recognizer does not keep: use 'plda' instead",
               method.label());
  if (spec.has(Need::kFeatureMaps))
    fail_usage("'{}' needs feature maps, which a recognizer does not keep: fit a method that needs only features",
               spec.name);
  if (spec.has(Need::kOtherClasses))
    fail_usage("'{}' needs knowledge of classes outside the task, which a recognizer does not keep: fit 'plda' instead",
               spec.name);
  if (spec.has(Need::kMatchedText))
    fail_usage("'{}' is for evaluation: a recognizer with texts of its classes (knowledge) has 'plda:prior=text'",
               spec.name);
}

StoreModel read_store_model(const std::filesystem::path& path) {
  StoreModel read;
  const ArtefactHeader header = read_any_header(path);
  if (header.kind == "fitted-method")
    read.fitted = read_fitted_method(path);
  else
    read.completion = read_completion_model(path);
  read.preprocessing = read_preprocessing(path);
  const auto knowledge = header.provenance.inputs.find("knowledge");
  if (knowledge != header.provenance.inputs.end()) read.knowledge_hash = knowledge->second;
  return read;
}

StoreModel read_store_model(const RecognizerFile& file) {
  StoreModel model;
  file.read_artefact(file.artefact("fitted") != nullptr ? "fitted" : "model",
                     [&](const std::filesystem::path& path) { model = read_store_model(path); });
  return model;
}

}  // namespace protocom
