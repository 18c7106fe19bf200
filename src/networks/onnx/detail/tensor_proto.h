#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <utility>
#include <vector>

#include "encoders/onnx_tensor_files.h"

namespace protocom::onnx {

/// Returns the type for a TensorProto.DataType as stored; nothing for types that no encoder has (text, complex, 4
/// bits). Unsigned 64-bit numbers are sizes, which are small.
std::optional<at::ScalarType> scalar_type(int64_t data_type);

/// Returns name and values of a TensorProto; half precision becomes float32. Throws Error if its shape and its bytes do
/// not match.
std::pair<std::string, at::Tensor> read_tensor(protozero::pbf_reader tensor, TensorFiles& files);

/// Appends the numbers of the current repeated field of `reader`, packed or not.
void append_integers(protozero::pbf_reader& reader, std::vector<int64_t>& to);
void append_floats(protozero::pbf_reader& reader, std::vector<float>& to);
void append_doubles(protozero::pbf_reader& reader, std::vector<double>& to);

}  // namespace protocom::onnx
