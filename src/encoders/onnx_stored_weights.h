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

/// Quantised weights: value = scale of its output channel * number.
struct Int8Weights {
  std::vector<int8_t> numbers;  ///< from -127 to 127
  std::vector<float> scales;    ///< [channels], max |weight| / 127; 1 if all are 0
};

/// Quantises weights of these sizes with one scale per channel of an axis.
Int8Weights int8_of(const std::vector<float>& weights, const std::vector<int64_t>& sizes, int64_t axis);

/// Stores constants of an encoder's graph in a file in the format stated by Weights.
class StoredWeights {
 public:
  /// `files`: where tensors are read; `tensors`: where they are written.
  StoredWeights(Weights weights, TensorFiles& files, TensorStore& tensors)
      : weights_(weights), files_(files), tensors_(tensors) {}

  /// Records the axis of output channels for the weights of convolutions and products in a graph (GraphProto).
  void take_uses(protozero::pbf_reader graph);
  /// Writes a tensor (TensorProto) into a graph in smaller form, from which operators() restore it; returns false, and
  /// writes nothing, for one that stays unchanged. `name`: of the value in the new graph.
  bool write(protozero::pbf_reader tensor, const std::string& name, protozero::pbf_writer& graph);
  /// Operators, fields of a GraphProto, which precede those that use their values.
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
  std::map<std::string, int64_t> axes_;  // axis of output channels; -1: the last
  std::string operators_;
};

}  // namespace protocom::onnx
