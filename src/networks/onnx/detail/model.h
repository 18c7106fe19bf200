#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "encoders/onnx_file.h"
#include "images/preprocessing.h"

namespace protocom::onnx {

/// A node's attribute; of its kinds, those that image encoders have.
struct Attribute {
  std::optional<double> number;
  std::optional<int64_t> whole;
  std::string text;
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  at::Tensor tensor;
};

/// One operator. An input that is left out is an empty name.
struct Node {
  std::string op;
  std::string domain;  ///< empty: ONNX's own
  std::string name;
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  std::map<std::string, Attribute> attributes = {};
};

/// A network as data: operators in the order in which they run, and what is known without an image. Numbers of 16 bits
/// are float32.
struct Model {
  int64_t opset = 0;
  std::vector<Node> nodes = {};
  std::map<std::string, at::Tensor> constants = {};
  std::vector<GraphValue> inputs = {};  ///< without those that are constants
  std::vector<GraphValue> outputs = {};
  Preprocessing stated = {};  ///< of its images, where the file states it; size 0: nothing does
  std::string feature = {};   ///< the value that is the image's feature, if no output is; may be empty
};

/// Operator sets that are read.
inline constexpr int64_t kOldestOpset = 9;
inline constexpr int64_t kNewestOpset = 24;

/// Reads an ONNX file; tensors outside it lie in its folder, and it states its images by its metadata
/// `preprocessing.json`. No size is believed that the bytes do not have. Throws
/// Error.
Model read_model(const std::filesystem::path& path);

/// Throws Error unless every value has one origin, operators stand behind what they take, and each has its
/// required inputs, so that callers may read those without a check.
void check_order(const Model& model);

}  // namespace protocom::onnx
