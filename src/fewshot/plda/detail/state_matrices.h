#pragma once
#include <string>
#include <vector>

#include "base/matrix.h"
#include "fewshot/method.h"

namespace protocom {

// Matrices among the tensors of a fitted method.

bool has_tensor(const MethodState& state, const std::string& name);

/// Adds `array` as a tensor of that name.
void add_array(MethodState& state, const std::string& name, const Array& array);
/// Adds a tensor [n].
void add_numbers(MethodState& state, const std::string& name, const DoubleVector& numbers);
/// Adds a tensor [].
void add_number(MethodState& state, const std::string& name, double number);

/// Returns a matrix with this many rows and columns; -1: any number. Throws Error if it is missing, has another shape
/// or a value that is not finite.
DoubleMatrix matrix_in(const MethodState& state, const std::string& name, int64_t rows, int64_t columns);
DoubleVector numbers_in(const MethodState& state, const std::string& name, int64_t size);
double number_in(const MethodState& state, const std::string& name);

}  // namespace protocom
