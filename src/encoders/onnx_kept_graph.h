#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace protocom::onnx {

class TensorStore;

/// How large constants lie in a file; graphs compute with float32. kInt8: weights of convolutions and products of the
/// encoder as whole numbers, each output channel with a scale of its own, and the rest as kFloat16.
enum class Weights { kFloat32, kFloat16, kInt8 };

/// Fewer numbers are float32 in any case.
inline constexpr int64_t kFewestHalved = 256;

/// What a graph is made of that goes into a larger one.
struct KeptGraph {
  int64_t opset = 0;       ///< of ONNX's own operators
  int64_t ir_version = 0;  ///< of the file format
  std::string graph = {};  ///< fields of a GraphProto: operators, tensors and the types of values
  std::string model = {};  ///< fields of a ModelProto: operator sets and functions
  Weights weights = Weights::kFloat32;
  std::shared_ptr<TensorStore> tensors = {};  ///< where they lie; none: in the file
};

/// The oldest operator set that GraphWriter writes for.
inline constexpr int64_t kOldestKept = 9;

/// How the names of its values begin.
inline constexpr const char* kKeptPrefix = "encoder/";

/// The graph of an ONNX file without its inputs and outputs, with its tensors in `tensors` (none: in the file),
/// wherever they lay; those of loops and branches are inside. Every value is called kKeptPrefix and its name, in the
/// graphs of loops and branches too, so that none is called as one of the larger graph. kFloat16 and kInt8 round
/// tensors of float32 from kFewestHalved numbers on, but for those with numbers beyond float16. Throws Error for
/// operators that ONNX and the file itself do not define, and for a set before kOldestKept.
KeptGraph kept_graph(const std::filesystem::path& path, Weights weights = Weights::kFloat32,
                     std::shared_ptr<TensorStore> tensors = nullptr);

}  // namespace protocom::onnx
