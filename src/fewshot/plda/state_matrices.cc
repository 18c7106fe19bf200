#include "fewshot/plda/detail/state_matrices.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace protocom {
namespace {

/// Returns an array of this shape in float64; -1: any size.
Array finite_array(const MethodState& state, const std::string& name, const Shape& shape) {
  const Array array = state.at(name).to(NumberType::kFloat64);
  bool fits = array.shape().size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] < 0 || array.shape()[i] == shape[i];
  if (!fits) {
    fail("'{}' has the shape [{}], expected [{}] (-1: any size)", name, fmt::join(array.shape(), ", "),
         fmt::join(shape, ", "));
  }
  const auto* number = array.data<double>();
  if (!std::all_of(number, number + array.numel(), [](double value) { return std::isfinite(value); }))
    fail("'{}' is not finite: fit the method again", name);
  return array;
}

}  // namespace

bool has_tensor(const MethodState& state, const std::string& name) {
  return std::any_of(state.tensors.begin(), state.tensors.end(), [&](const auto& item) { return item.first == name; });
}

void add_array(MethodState& state, const std::string& name, const Array& array) {
  if (array.defined()) state.tensors.emplace_back(name, array);
}

void add_numbers(MethodState& state, const std::string& name, const DoubleVector& numbers) {
  add_array(state, name, array_of_matrix(numbers).reshaped({numbers.size()}));
}

void add_number(MethodState& state, const std::string& name, double number) {
  add_array(state, name, Array::of<double>({number}, {}));
}

DoubleMatrix matrix_in(const MethodState& state, const std::string& name, int64_t rows, int64_t columns) {
  const Array array = finite_array(state, name, {rows, columns});
  return matrix_of<double>(array);
}

DoubleVector numbers_in(const MethodState& state, const std::string& name, int64_t size) {
  const Array array = finite_array(state, name, {size});
  return matrix_of<double>(array).row(0);
}

double number_in(const MethodState& state, const std::string& name) {
  return *finite_array(state, name, {}).data<double>();
}

}  // namespace protocom
