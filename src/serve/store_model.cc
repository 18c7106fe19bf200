#include "protocom/serve/store_model.h"

#include <algorithm>

#include "protocom/core/error.h"
#include "protocom/data/feature_preprocessing.h"

namespace protocom {

std::vector<std::string> StoreModel::attributes() const {
  return completion ? completion->attributes : fitted->method->state().attributes;
}

int64_t StoreModel::feature_dim() const {
  return completion ? completion->network.options().feature_dim : fitted->feature_dim;
}

std::string StoreModel::default_method() const {
  return fitted ? fitted->method->label() : completion->inductive_method;
}

std::string StoreModel::transductive_method() const {
  const std::string file = fitted ? fitted->method->spec().name : "a completion model";
  for (const MethodSpec* spec : method_specs()) {
    const bool takes_it = fitted ? spec->name == file || spec->fitted_as == file : spec->has(Need::kCompletionModel);
    if (takes_it && spec->sees == Sees::kAllQueries) return spec->name;
  }
  fail_usage("no transductive method uses what was fitted as '{}'; name another with --method", file);
}

bool StoreModel::learns_from_unlabelled() const { return fitted && protocom::learns_from_unlabelled(*fitted->method); }

bool learns_from_unlabelled(const Method& method) {
  const MethodState state = method.state();
  return std::any_of(state.tensors.begin(), state.tensors.end(),
                     [](const auto& one) { return one.first == "adaptation"; });  // docs/formats.md
}

void check_is_for_recognizers(const MethodSpec& method) {
  if (method.has(Need::kFeatureMaps))
    fail_usage("'{}' looks at feature maps, which a recognizer does not keep: fit a method that needs features alone",
               method.name);
  if (method.has(Need::kOtherClasses))
    fail_usage(
        "'{}' answers by what is known of classes outside the task, which a recognizer does not keep: fit 'plda', "
        "to which a class is what is known of it alone",
        method.name);
  if (method.has(Need::kMatchedText))
    fail_usage("'{}' is for evaluation: a recognizer with texts of its classes (--knowledge) has 'plda:prior=text'",
               method.name);
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

}  // namespace protocom
