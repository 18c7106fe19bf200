#include "protocom/fit.h"

#include "api/detail/boundary.h"
#include "api/detail/parts.h"
#include "eval/fit.h"

namespace protocom::v0 {

std::vector<protocom::FittedMethod> fitted_of(const std::vector<Fitted>& fitted) {
  std::vector<protocom::FittedMethod> own;
  for (const Fitted& item : fitted) own.push_back(item.impl().fitted);
  return own;
}

Fitted::Fitted(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Fitted Fitted::read(const std::string& path) {
  return guarded([&] {
    const Collected collected;
    protocom::FittedMethod read = read_fitted_method(path);
    return Fitted(std::make_shared<const Impl>(Impl{std::move(read), collected.warnings()}));
  });
}

void Fitted::save(const std::string& path) const {
  guarded([&] {
    Provenance provenance;
    provenance.command = "fit";
    write_fitted_method(path, impl_->fitted, provenance, nlohmann::json::object());
  });
}

Fitted Fitted::space() const {
  return guarded([&] { return Fitted(std::make_shared<const Impl>(Impl{space_of(impl_->fitted)})); });
}

std::string Fitted::method() const { return impl_->fitted.method->label(); }
int64_t Fitted::dim() const { return impl_->fitted.feature_dim; }
const std::vector<std::string>& Fitted::trained_on() const { return impl_->fitted.trained_on; }
const std::vector<std::string>& Fitted::findings() const { return impl_->fitted.findings; }
const Warnings& Fitted::warnings() const { return impl_->warnings; }

Fitted fit(const std::string& method, const FeatureSet& features, const FitOptions& options, const Progress& progress) {
  return guarded([&] {
    const Collected collected;
    CallerProgress reported(progress);
    const protocom::Knowledge* knowledge = options.knowledge ? options.knowledge->impl().knowledge.get() : nullptr;
    protocom::FitRecipe how;
    how.method = method;
    how.seed = options.seed;
    how.sees_val = options.sees_val;
    protocom::FittedMethod made = fit_method({features.impl().set, knowledge}, how, reported);
    return Fitted(std::make_shared<const Fitted::Impl>(Fitted::Impl{std::move(made), collected.warnings()}));
  });
}

}  // namespace protocom::v0
