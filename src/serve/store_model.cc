#include "protocom/serve/store_model.h"

#include "protocom/core/error.h"

namespace protocom {

std::vector<std::string> StoreModel::attributes() const {
  return completion ? completion->attributes : fitted->method->state().attributes;
}

std::string StoreModel::default_method() const { return fitted ? fitted->method->label() : "mean-fusion"; }

std::string StoreModel::transductive_method() const {
  if (!fitted) return "gauss-fusion";
  const std::string& name = fitted->method->spec().name;
  for (const MethodSpec* spec : method_specs()) {
    if ((spec->name == name || spec->fitted_as == name) && spec->sees == Sees::kAllQueries) return spec->name;
  }
  fail_usage("no transductive method takes what was fitted as '{}'; name another with --method", name);
}

StoreModel read_store_model(const ClassStore& store, const std::filesystem::path& path, const StoreFiles& files) {
  StoreModel read;
  if (store.fitted.path.empty())
    read.completion = read_completion_model(locate(store.model, "model", path, files.model));
  else
    read.fitted = read_fitted_method(locate(store.fitted, "fitted", path, files.fitted));
  return read;
}

}  // namespace protocom
