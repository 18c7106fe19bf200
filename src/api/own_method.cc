#include "protocom/own_method.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "api/detail/boundary.h"
#include "base/error.h"
#include "fewshot/add_method.h"

namespace protocom::v0 {
namespace {

/// Returns rows `begin` to `end` of a task side by side, without their padding.
std::vector<float> plain_rows(const protocom::Task& task, int64_t begin, int64_t end) {
  std::vector<float> plain;
  plain.reserve(static_cast<size_t>((end - begin) * task.width));
  for (int64_t i = begin; i < end; ++i) {
    const float* row = task.rows[static_cast<size_t>(i)];
    plain.insert(plain.end(), row, row + task.width);
  }
  return plain;
}

void check_finite(const float* logits, int64_t count, const OwnMethod& method) {
  if (!std::all_of(logits, logits + count, [](float value) { return std::isfinite(value); }))
    fail("the method '{}' gave logits that are not finite", method.name());
}

class OwnRun : public protocom::TaskRun {
 public:
  explicit OwnRun(std::shared_ptr<const OwnMethod> method) : method_(std::move(method)) {}
  void answer(const protocom::Task& task, float* logits) override {
    const std::vector<float> support = plain_rows(task, 0, task.supports());
    const std::vector<float> query = plain_rows(task, task.first_query(), task.points());
    OwnTask own;
    own.classes = task.n;
    own.dim = task.width;
    own.supports = task.supports();
    own.queries = task.queries;
    own.support = support.data();
    own.labels = task.label.data();
    own.query = query.data();
    own.seed = task.seed;
    const int64_t count = task.queries * task.n;
    std::fill_n(logits, count, 0.0F);
    by_caller([&] { method_->score(own, logits); });
    check_finite(logits, count, *method_);
  }

 private:
  std::shared_ptr<const OwnMethod> method_;
};

class AdaptedMethod : public protocom::Method {
 public:
  explicit AdaptedMethod(std::shared_ptr<const OwnMethod> method) : method_(std::move(method)) {}
  [[nodiscard]] protocom::PreparedMethod prepare(const protocom::MethodContext&) const override {
    return {nullptr, [method = method_] { return std::make_unique<OwnRun>(method); }};
  }

 private:
  std::shared_ptr<const OwnMethod> method_;
};

}  // namespace

OwnMethod::OwnMethod() = default;
OwnMethod::~OwnMethod() = default;

void add_method(std::shared_ptr<const OwnMethod> method) {
  guarded([&] {
    if (!method) fail_usage("the method to add is a null pointer");
    protocom::MethodSpec spec;
    by_caller([&] {
      spec.name = method->name();
      spec.about = method->about();
      spec.sees = method->is_transductive() ? protocom::Sees::kAllQueries : protocom::Sees::kEachQueryAlone;
    });
    protocom::add_method(std::move(spec), [method] { return std::make_unique<AdaptedMethod>(method); });
  });
}

}  // namespace protocom::v0
