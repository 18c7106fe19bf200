#include "fewshot/toolbox/detail/row_products.h"

#include "base/parallel.h"
#include "fewshot/row_kernels.h"

namespace protocom {

FloatMatrix row_products(const FloatMatrix& rows, const Array& others) {
  constexpr int64_t kGrain = 1024;  // rows of the others that are worth a thread
  const int64_t q = rows.rows(), n = others.size(0), dim = rows.cols();
  PROTOCOM_CHECK(others.size(1) == dim);
  const std::vector<const float*> pointers = pointers_to(rows);
  const auto* from = others.data<float>();
  FloatMatrix products(q, n);
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    row_dots({pointers.data(), q, from + begin * dim, end - begin, dim, n}, products.data() + begin);
  });
  return products;
}

std::vector<const float*> pointers_to(const FloatMatrix& rows) {
  std::vector<const float*> pointers;
  for (int64_t i = 0; i < rows.rows(); ++i) pointers.push_back(rows.row(i).data());
  return pointers;
}

}  // namespace protocom
