#include "serve/proportions.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "protocom/core/log.h"
#include "serve/best_classes.h"

namespace protocom {

void warn_of_proportions(const ClassScorer& scorer, const EnrolledClasses& enrolled, const StoreModel& model,
                         const at::Tensor& features) {
  const MethodSpec& spec = scorer.method().spec();
  if (features.size(0) < 4 || spec.assumes != Assumes::kBalancedQueries) return;
  const ClassScorer alone(enrolled, model, {model.default_method()});
  const std::vector<at::Tensor> answers = alone.probabilities(features).unbind();
  std::map<std::string, double> share;
  for (const at::Tensor& answer : answers) {
    const auto best = static_cast<size_t>(best_classes(answer, 1).front());
    share[alone.class_names()[best]] += 100.0 / static_cast<double>(answers.size());
  }
  const auto most =
      std::max_element(share.begin(), share.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const double expected = 100.0 / static_cast<double>(std::min(enrolled.classes.size(), answers.size()));
  if (most->second < 2 * expected) return;
  logger().warn(
      "judged one by one, {:.0f} % of the {} images are '{}', where {} expects about {:.0f} % of each class: it loses "
      "where classes are not about equally frequent; leave --batch-together out",
      most->second, answers.size(), most->first, scorer.method().label(), expected);
}

}  // namespace protocom
