#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <utility>
#include <vector>

#include "encoders/onnx_tensor_files.h"

namespace protocom::onnx {

/// TensorProto.DataType as bytes lie in the file; none for what no encoder has (text, complex, 4 bits). Unsigned
/// numbers of 64 bits are sizes, which are small.
std::optional<at::ScalarType> scalar_type(int64_t data_type);

/// Name and values of a TensorProto; half precision becomes float32. Throws Error if its shape and its bytes do not
/// go together.
std::pair<std::string, at::Tensor> read_tensor(protozero::pbf_reader tensor, TensorFiles& files);

/// The numbers of a repeated field at which `reader` stands, packed or one by one.
void append_integers(protozero::pbf_reader& reader, std::vector<int64_t>& to);
void append_floats(protozero::pbf_reader& reader, std::vector<float>& to);
void append_doubles(protozero::pbf_reader& reader, std::vector<double>& to);

}  // namespace protocom::onnx
