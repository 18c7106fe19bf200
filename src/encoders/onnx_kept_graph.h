#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace protocom::onnx {

class TensorStore;

/// The number format of constants in a file; graphs compute with float32. kInt8: weights of convolutions and products
/// of the encoder as whole numbers, with one scale per output channel, and the rest as kFloat16.
enum class Weights { kFloat32, kFloat16, kInt8 };

/// Tensors with fewer numbers are always float32.
inline constexpr int64_t kFewestHalved = 256;

/// A graph to be embedded in a larger one.
struct KeptGraph {
  int64_t opset = 0;       ///< version of ONNX's own operators
  int64_t ir_version = 0;  ///< version of the file format
  std::string graph = {};  ///< fields of a GraphProto: operators, tensors and the types of values
  std::string model = {};  ///< fields of a ModelProto: operator sets and functions
  Weights weights = Weights::kFloat32;
  std::shared_ptr<TensorStore> tensors = {};  ///< where they are stored; none: in the file
};

/// The oldest operator set that GraphWriter supports.
inline constexpr int64_t kOldestKept = 9;

/// The prefix of the names of its values.
inline constexpr const char* kKeptPrefix = "encoder/";

/// Returns the graph of an ONNX file without its inputs and outputs, with its tensors in `tensors` (none: in the file),
/// wherever they were; those of loops and branches are inside. Every value is renamed to kKeptPrefix and its name, also
/// in the graphs of loops and branches, so that none collides with the larger graph. kFloat16 and kInt8 round float32
/// tensors with at least kFewestHalved numbers, except those with numbers beyond float16. Throws Error for operators
/// that neither ONNX nor the file itself defines, and for a set before kOldestKept.
KeptGraph kept_graph(const std::filesystem::path& path, Weights weights = Weights::kFloat32,
                     std::shared_ptr<TensorStore> tensors = nullptr);

}  // namespace protocom::onnx
