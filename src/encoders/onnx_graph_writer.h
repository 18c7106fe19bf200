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

/// TensorProto.DataType of the numbers that graphs are asked with and answer in.
enum class ValueType : int32_t { kFloat32 = 1, kUInt8 = 2, kInt64 = 7, kFloat16 = 10 };

/// A node's attributes by name.
using NodeAttributes = std::map<std::string, std::variant<int64_t, std::vector<int64_t>, double>>;

/// Writes a graph, operator after operator: each gives the name of the value that it makes, for those after it.
///
///     GraphWriter graph;
///     graph.input("features", ValueType::kFloat32, {-1, 4});
///     const std::string products = graph.node("MatMul", {"features", graph.matrix(weights)});
///     graph.name_output(products, "logits", ValueType::kFloat32, {-1, 2});
///     write_file("head.onnx", graph.model({{"classes", "..."}}));
class GraphWriter {
 public:
  /// Of operator set 17, which programs since 2022 read. `tensors`: where they lie; none: in the file.
  explicit GraphWriter(Weights weights = Weights::kFloat32, std::shared_ptr<TensorStore> tensors = nullptr);
  /// Around an encoder's graph, with its operator set: what is written before add_encoder() comes before it.
  explicit GraphWriter(KeptGraph encoder);
  /// Operators stand behind what they take, so once what the encoder takes is there.
  void add_encoder();

  /// Sizes are numbers; -1: any number of images.
  void input(const std::string& name, ValueType type, const std::vector<int64_t>& sizes);
  /// Declares a value, made before, as the output `name`.
  void name_output(const std::string& value, const std::string& name, ValueType type,
                   const std::vector<int64_t>& sizes);

  /// Constants: float32 [rows, columns], which lie in the file as Weights says unless they are one row or column;
  /// float32 of any shape; one float32; int64 [n].
  std::string matrix(const FloatMatrix& values);
  std::string numbers(const std::vector<float>& values, const std::vector<int64_t>& sizes);
  std::string number(double value);
  std::string integers(const std::vector<int64_t>& values);

  /// `output`: the value's name; empty: a generated one.
  std::string node(const std::string& op, const std::vector<std::string>& inputs, const NodeAttributes& attributes = {},
                   const std::string& output = {});
  /// A Reduce operator over one axis.
  std::string reduced(const std::string& op, const std::string& input, int64_t axis, bool keep);
  std::string cast(const std::string& input, ValueType to, const std::string& output = {});

  /// The bytes of the file; tensors beside it are all written then. Throws Error if it would be too long.
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
