#include "fewshot/plda/detail/state_matrices.h"

#include "fewshot/toolbox/detail/state_tensors.h"
#include "tensors/tensors.h"

namespace protocom {

void add_array(MethodState& state, const std::string& name, const Array& array) {
  add_tensor(state, name, tensor_of(array));
}

void add_numbers(MethodState& state, const std::string& name, const DoubleVector& numbers) {
  add_array(state, name, array_of_matrix(numbers).reshaped({numbers.size()}));
}

void add_number(MethodState& state, const std::string& name, double number) {
  add_array(state, name, Array::of<double>({number}, {}));
}

DoubleMatrix matrix_in(const MethodState& state, const std::string& name, int64_t rows, int64_t columns) {
  return matrix_of<double>(array_of(finite_tensor(state, name, {rows, columns})));
}

DoubleVector numbers_in(const MethodState& state, const std::string& name, int64_t size) {
  return matrix_of<double>(array_of(finite_tensor(state, name, {size}))).row(0);
}

double number_in(const MethodState& state, const std::string& name) {
  return *array_of(finite_tensor(state, name, {})).data<double>();
}

}  // namespace protocom
