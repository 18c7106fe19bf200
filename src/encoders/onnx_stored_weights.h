#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "encoders/onnx_kept_graph.h"
#include "encoders/onnx_tensor_files.h"
#include "encoders/onnx_tensor_store.h"

namespace protocom::onnx {

/// Weights as whole numbers: value = scale of its output channel * number.
struct Int8Weights {
  std::vector<int8_t> numbers;  ///< from -127 to 127
  std::vector<float> scales;    ///< [channels], max |weight| / 127; 1 if all are 0
};

/// Rounds weights of these sizes for each channel of an axis by itself.
Int8Weights int8_of(const std::vector<float>& weights, const std::vector<int64_t>& sizes, int64_t axis);

/// How constants of an encoder's graph lie in a file (Weights).
class StoredWeights {
 public:
  /// `files`: from which tensors are read; `tensors`: into which they are written.
  StoredWeights(Weights weights, TensorFiles& files, TensorStore& tensors)
      : weights_(weights), files_(files), tensors_(tensors) {}

  /// Takes in which axis the weights of a graph (GraphProto) have the output channels of a convolution or a product.
  void take_uses(protozero::pbf_reader graph);
  /// Writes a tensor (TensorProto) into a graph so that operators() make it of what lies there; false, and nothing
  /// written, for one that stays as it is. `name`: how the value is called in the new graph.
  bool write(protozero::pbf_reader tensor, const std::string& name, protozero::pbf_writer& graph);
  /// Operators, fields of a GraphProto, which come before those that take their values.
  [[nodiscard]] const std::string& operators() const { return operators_; }

 private:
  struct Floats {
    std::string name;
    std::vector<int64_t> sizes;
    std::vector<float> values;
  };
  std::optional<Floats> floats_of(protozero::pbf_reader tensor);
  [[nodiscard]] std::optional<int64_t> int8_axis(const Floats& tensor) const;
  void write_tensor(const std::string& name, int64_t type, const std::vector<int64_t>& sizes, const void* values,
                    size_t bytes, protozero::pbf_writer& graph);
  void write_int8(const Floats& tensor, int64_t axis, const std::string& name, protozero::pbf_writer& graph);
  bool write_half(const Floats& tensor, const std::string& name, protozero::pbf_writer& graph);
  void add_operator(const std::string& op, const std::vector<std::string>& inputs, const std::string& output);

  Weights weights_;
  TensorFiles& files_;
  TensorStore& tensors_;
  std::map<std::string, int64_t> axes_;  // of output channels; -1: the last
  std::string operators_;
};

}  // namespace protocom::onnx
