#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/matrix.h"
#include "encoders/onnx_kept_graph.h"
#include "encoders/onnx_tensor_store.h"

namespace protocom::onnx {

/// TensorProto.DataType of the inputs and outputs of graphs.
enum class ValueType : int32_t { kFloat32 = 1, kUInt8 = 2, kInt64 = 7, kFloat16 = 10 };

/// A node's attributes by name.
using NodeAttributes = std::map<std::string, std::variant<int64_t, std::vector<int64_t>, double, std::string>>;

/// Writes a graph, operator by operator: each returns the name of its output value, for later operators.
///
///     GraphWriter graph;
///     graph.input("features", ValueType::kFloat32, {-1, 4});
///     const std::string products = graph.node("MatMul", {"features", graph.matrix(weights)});
///     graph.name_output(products, "logits", ValueType::kFloat32, {-1, 2});
///     write_file("head.onnx", graph.model({{"classes", "..."}}));
class GraphWriter {
 public:
  /// Writes operator set 17, which programs since 2022 read. `tensors`: where tensors are stored; none: in the file.
  explicit GraphWriter(Weights weights = Weights::kFloat32, std::shared_ptr<TensorStore> tensors = nullptr);
  /// Writes around an encoder's graph, with its operator set: operators written before add_encoder() come before it.
  explicit GraphWriter(KeptGraph encoder);
  /// Appends the encoder. Operators must follow those they depend on, so call it once the encoder's input exists.
  void add_encoder();

  /// Adds an input. Sizes are numbers; -1: any number of images.
  void input(const std::string& name, ValueType type, const std::vector<int64_t>& sizes);
  /// Declares an existing value as the output `name`.
  void name_output(const std::string& value, const std::string& name, ValueType type,
                   const std::vector<int64_t>& sizes);

  /// Constants: float32 [rows, columns], stored as stated by Weights unless they are one row or column; float32 of any
  /// shape; one float32; int64 [n].
  std::string matrix(const FloatMatrix& values);
  std::string numbers(const std::vector<float>& values, const std::vector<int64_t>& sizes);
  std::string number(double value);
  std::string integers(const std::vector<int64_t>& values);

  /// Adds an operator. `output`: the value's name; empty: a generated one.
  std::string node(const std::string& op, const std::vector<std::string>& inputs, const NodeAttributes& attributes = {},
                   const std::string& output = {});
  /// Adds a Reduce operator over one axis.
  std::string reduced(const std::string& op, const std::string& input, int64_t axis, bool keep);
  std::string cast(const std::string& input, ValueType to, const std::string& output = {});

  /// Returns the bytes of the file; all external tensors are written then. Throws Error if it would be too long.
  [[nodiscard]] std::string model(const std::map<std::string, std::string>& metadata) const;

 private:
  std::string next_name(const std::string& what);
  std::string tensor(const std::vector<int64_t>& sizes, ValueType type, const void* values, size_t bytes);
  void declare(uint32_t field, const std::string& name, ValueType type, const std::vector<int64_t>& sizes);

  KeptGraph made_;
  std::string encoder_;  // fields of a GraphProto, until add_encoder()
  int64_t values_ = 0;
};

}  // namespace protocom::onnx
