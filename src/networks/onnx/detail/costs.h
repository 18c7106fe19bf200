#pragma once
#include <cstdint>

#include "networks/onnx/detail/operators.h"

/// The cost of an operator that depends on the image, before it is created: a file of some kilobytes can request hours
/// and all memory.
namespace protocom::onnx {

/// Estimates its multiply-adds for one image; a value of a pooling's window, which is slower than one of a product,
/// counts as several. 0 if its sizes do not match one another, which its maker reports.
double work_of(const Binding& binding);

/// Estimates them for `values` individually computed results.
double work_of_values(int64_t values);

/// Returns how many values it keeps in an order or size of its own: weights packed for the processor, transposed or
/// repeated.
int64_t kept_by(const Binding& binding);

}  // namespace protocom::onnx
