#include "fewshot/plda/detail/left_out.h"

#include <array>
#include <numeric>

#include "fewshot/plda/detail/probability_scale.h"

namespace protocom {
namespace {

/// Multiples of the default degrees; the first is kept unless another is surely better.
constexpr std::array<double, 5> kDegreeFactors = {1, 0.3, 0.1, 3, 10};

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> left_out_loss(const LeftOutProducts& products, const LeftOutLabels& of, double nu) {
  const auto n = static_cast<size_t>(of.classes);
  std::vector<double> count(n), logs;
  for (const int64_t label : *of.labels) count[static_cast<size_t>(label)] += 1;
  std::vector<int64_t> answered;
  for (size_t i = 0; i < of.labels->size(); ++i) {
    const auto own = static_cast<size_t>((*of.labels)[i]);
    if (count[own] < 2) continue;
    const double image = products.images[i], k = count[own] / (count[own] - 1);
    const double* across = products.across.data() + i * n;
    const auto squared = [&](size_t c) { return image + products.means[c * n + c] - 2 * across[c]; };
    const double g = squared(own);   // for a = x - m_own
    const double left = nu - k * g;  // above 0: R without the image's part is positive semidefinite
    for (size_t c = 0; c < n; ++c) {
      const double h = image - across[c] - across[own] + products.means[own * n + c];  // product of a and x - m_c
      const double distance = c == own ? k * k * g / left : (squared(c) + k * h * h / left) / nu;
      logs.push_back(-0.5 * distance * (nu + of.degrees - 1));
    }
    answered.push_back((*of.labels)[i]);
  }
  return most_likely_scale(logs, answered, of.classes).loss;
}

}  // namespace

double choose_degrees(double usual, const LeftOutLabels& labels,
                      const std::function<LeftOutProducts(double nu)>& products) {
  // R is then 0 without the image, and all losses are equal.
  if (labels.degrees < 2) return usual;
  std::vector<double> first, least;
  double best = usual;
  for (const double factor : kDegreeFactors) {
    const double nu = factor * usual;
    const std::vector<double> loss = left_out_loss(products(nu), labels, nu);
    if (first.empty()) {
      first = least = loss;
    } else if (surely_less(loss, first) && mean_of(loss) < mean_of(least)) {
      least = loss;
      best = nu;
    }
  }
  return best;
}

}  // namespace protocom
