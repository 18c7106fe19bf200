#include "fewshot/toolbox/detail/coarse_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "fewshot/detail/processor_vectors.h"
#include "fewshot/row_kernels.h"

namespace protocom {
namespace {

constexpr float kLargestCode = 127;
/// Returns the largest code of the few rows, which are rounded too, such that sums of `dim` products of codes fit into
/// 32 bits.
float largest_wide(int64_t dim) {
  constexpr float kMost = 16383;
  constexpr float kLargestSum = 2.1e9F;
  return std::min(kMost, std::floor(kLargestSum / (kLargestCode * static_cast<float>(dim))));
}

/// Uses integers so that every processor and every order gives the same sum.
PROTOCOM_INLINE void coarse_body(const int16_t* row, const int8_t* codes, int64_t n, int64_t dim, int32_t* sums) {
  for (int64_t k = 0; k < n; ++k, codes += dim) {
    int32_t sum = 0;
    for (int64_t d = 0; d < dim; ++d) sum += static_cast<int32_t>(row[d]) * static_cast<int32_t>(codes[d]);
    sums[k] = sum;
  }
}

PROTOCOM_FORMS(coarse_dots, void, (const int16_t* row, const int8_t* codes, int64_t n, int64_t dim, int32_t* sums),
               coarse_body, (row, codes, n, dim, sums))

/// Quantizes a row [dim] to integers up to `largest`; returns their step.
template <typename Code>
float compute_codes(const float* row, int64_t dim, float largest, Code* codes) {
  float most = 0;
  for (int64_t d = 0; d < dim; ++d) most = std::max(most, std::abs(row[d]));
  const float factor = most > 0 ? largest / most : 0;
  for (int64_t d = 0; d < dim; ++d) codes[d] = static_cast<Code>(std::lrint(row[d] * factor));
  return most / largest;
}

/// Returns the rows [q, d] as integers, and the step of each.
std::pair<std::vector<int16_t>, std::vector<float>> wide_codes(const FloatMatrix& rows) {
  const int64_t q = rows.rows(), dim = rows.cols();
  const float largest = largest_wide(dim);
  std::vector<int16_t> codes(static_cast<size_t>(q * dim));
  std::vector<float> steps(static_cast<size_t>(q));
  for (int64_t i = 0; i < q; ++i)
    steps[static_cast<size_t>(i)] = compute_codes(rows.row(i).data(), dim, largest, codes.data() + i * dim);
  return {std::move(codes), std::move(steps)};
}

/// Returns the indices of the `most` largest products.
std::vector<int64_t> largest_of(const float* products, int64_t count, int64_t most) {
  std::vector<std::pair<float, int64_t>> best;  // a heap with the least in front
  const auto greater = [](const auto& a, const auto& b) { return a.first > b.first; };
  for (int64_t i = 0; i < count; ++i) {
    if (static_cast<int64_t>(best.size()) == most) {
      if (!(products[i] > best.front().first)) continue;
      std::pop_heap(best.begin(), best.end(), greater);
      best.pop_back();
    }
    best.emplace_back(products[i], i);
    std::push_heap(best.begin(), best.end(), greater);
  }
  std::vector<int64_t> numbers;
  for (const auto& item : best) numbers.push_back(item.second);
  return numbers;
}

}  // namespace

CoarseRows coarse_rows(const FloatMatrix& rows) {
  const int64_t n = rows.rows(), dim = rows.cols();
  CoarseRows made{Array::uninitialised({n, dim}, NumberType::kInt8), Array::uninitialised({n})};
  auto* code = made.codes.mutable_data<int8_t>();
  for (int64_t k = 0; k < n; ++k)
    made.steps.mutable_data<float>()[k] = compute_codes(rows.row(k).data(), dim, kLargestCode, code + k * dim);
  return made;
}

FloatMatrix products_with_many(const FloatMatrix& rows, const FloatMatrix& part, const ManyRows& many) {
  constexpr int64_t kGrain = 4096;  // rows that are worth a thread
  constexpr int64_t kBlock = 64;    // rows that stay in the nearest cache for all of `part`
  const int64_t q = rows.rows(), n = many.exact.size(0), width = rows.cols(), dim = part.cols();
  const auto [wide, wide_steps] = wide_codes(part);
  FloatMatrix products(q, n);
  float* all = products.data();
  const auto* codes = many.coarse.codes.data<int8_t>();
  const auto* steps = many.coarse.steps.data<float>();
  const float* offsets = many.offsets.defined() ? many.offsets.data<float>() : nullptr;
  const auto dots = coarse_dots_form();
  parallel_for(0, n, kGrain, [&, &wide = wide, &wide_steps = wide_steps](int64_t begin, int64_t end) {
    int32_t sums[kBlock];
    for (int64_t first = begin; first < end; first += kBlock) {
      const int64_t count = std::min(kBlock, end - first);
      for (int64_t i = 0; i < q; ++i) {
        dots(wide.data() + i * dim, codes + first * dim, count, dim, sums);
        float* out = all + i * n + first;
        const float step = wide_steps[static_cast<size_t>(i)];
        for (int64_t k = 0; k < count; ++k)
          out[k] =
              step * steps[first + k] * static_cast<float>(sums[k]) + (offsets == nullptr ? 0 : offsets[first + k]);
      }
    }
  });
  const auto* exact = many.exact.data<float>();
  for (int64_t i = 0; i < q; ++i) {
    for (const int64_t k : largest_of(all + i * n, n, kExactProducts))
      all[i * n + k] = row_dot(rows.row(i).data(), exact + k * width, width);
  }
  return products;
}

}  // namespace protocom
