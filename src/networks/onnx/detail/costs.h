#pragma once
#include <cstdint>

#include "networks/onnx/detail/operators.h"

/// What an operator that depends on the image takes, known before it is made: a file of some kilobytes can ask for
/// hours and for all memory.
namespace protocom::onnx {

/// About how many multiply-adds it does for one image; a value of a pooling's window, which no processor does as fast
/// as those of a product, counts as several. 0 if its sizes do not fit one another, which its maker says.
double work_of(const Binding& binding);

/// The same of `values` results that are computed each for itself.
double work_of_values(int64_t values);

/// How many values it keeps in an order or size of its own: weights packed for the processor, turned or repeated.
int64_t kept_by(const Binding& binding);

}  // namespace protocom::onnx
