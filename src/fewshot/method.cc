#include "fewshot/method.h"

#include "base/error.h"
#include "fewshot/detail/task_table.h"

namespace protocom {

const FastForm* Method::join(FastForms& forms) const {
  const MethodContext& context = forms.context();
  PreparedMethod prepared = prepare(context);
  const Array& table = spec().has(Need::kFeatureMaps) ? forms.maps() : forms.table();
  auto& form = forms.shared<TaskTable>(forms.mapped(table, std::move(prepared.space)));
  form.add(std::move(prepared.make_run), prepared.fewest_shots);
  return &form;
}

void Method::fit(const FitInputs&) { fail_usage("'{}' needs no fitting: name it in --methods", spec().name); }

void Method::load(const MethodState& state) {
  if (!state.empty())
    fail("'{}' has no fitted state, but the file has {} tensors for it", spec().name, state.tensors.size());
}

const Array& MethodState::at(const std::string& name) const {
  for (const auto& [own, tensor] : tensors) {
    if (own == name) return tensor;
  }
  fail("the fitted method: missing tensor '{}'", name);
}

}  // namespace protocom
