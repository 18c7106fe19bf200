#include "fewshot/scorer_group.h"

#include <map>
#include <utility>

#include "base/error.h"
#include "base/threads.h"
#include "fewshot/fast_form.h"
#include "fewshot/method.h"

namespace protocom {
namespace {

void check_sizes(const MethodContext& context, const Array& table) {
  if (table.dim() != 2 || table.type() != NumberType::kFloat32) fail("features: expected a float32 matrix");
  if (context.maps.defined() && context.maps.size(0) != table.size(0))
    fail("found feature maps of {} images and features of {}", context.maps.size(0), table.size(0));
}

}  // namespace

struct ScorerGroup::Impl {
  /// Where a method's answers come from.
  struct Answerer {
    const FastForm* form = nullptr;
    size_t part = 0;  // index among the form's answers
  };

  Array table;
  std::vector<std::unique_ptr<FastForm>> forms;
  std::vector<Answerer> methods;
};

ScorerGroup::ScorerGroup(const Methods& methods, const MethodContext& context, const Array& table)
    : impl_(std::make_unique<Impl>()) {
  check_sizes(context, table);
  impl_->table = table;
  FastForms forms(context, table);
  std::map<const FastForm*, size_t> joined;
  for (const auto& method : methods) {
    check_needs(*method, context);
    const FastForm* form = method->join(forms);
    impl_->methods.push_back({form, joined[form]++});
  }
  impl_->forms = forms.take();
}

ScorerGroup::~ScorerGroup() = default;

std::vector<EpisodeScores> ScorerGroup::score(const RowBatch& rows) const {
  const ThreadScope one_thread(1);
  std::map<const FastForm*, std::vector<EpisodeScores>> answers;
  for (const auto& form : impl_->forms) answers[form.get()] = form->score(rows);
  std::vector<EpisodeScores> scores;
  for (const Impl::Answerer& own : impl_->methods) scores.push_back(std::move(answers[own.form][own.part]));
  return scores;
}

}  // namespace protocom
