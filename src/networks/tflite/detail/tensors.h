#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "networks/tflite/detail/flat_table.h"

namespace protocom::tflite {

/// A tensor of the file.
struct Tensor {
  std::string name;
  std::vector<int64_t> shape;
  at::ScalarType type = at::kFloat;
  std::vector<float> scales;
  std::vector<int64_t> zeros;
  int64_t axis = 0;     ///< axis of the scales, if there are several
  at::Tensor constant;  ///< in TensorFlow's layout, float32 if it was quantised; undefined: computed
};

/// Returns entry `number` of the file's tensors; with its values, if the file has them. Throws if type, sizes, scales
/// and bytes do not match.
Tensor read_tensor(const FlatTable& table, const std::vector<FlatTable>& buffers, size_t number);

}  // namespace protocom::tflite
