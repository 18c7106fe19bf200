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

/// A node's attribute; only the types in image encoders.
struct Attribute {
  std::optional<double> number;
  std::optional<int64_t> whole;
  std::string text;
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  at::Tensor tensor;
};

/// One operator. An omitted input has an empty name.
struct Node {
  std::string op;
  std::string domain;  ///< empty: ONNX's own
  std::string name;
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  std::map<std::string, Attribute> attributes = {};
};

/// A network as data: operators in order of execution, and everything known without an image. 16-bit numbers are
/// converted to float32.
struct Model {
  int64_t opset = 0;
  std::vector<Node> nodes = {};
  std::map<std::string, at::Tensor> constants = {};
  std::vector<GraphValue> inputs = {};  ///< without constants
  std::vector<GraphValue> outputs = {};
  Preprocessing stated = {};  ///< of its images, if the file states it; size 0: it does not
  std::string feature = {};   ///< the value that is the image's feature, if no output is; may be empty
};

/// Supported operator sets.
inline constexpr int64_t kOldestOpset = 9;
inline constexpr int64_t kNewestOpset = 24;

/// Reads an ONNX file; external tensors are in its folder, and its metadata `preprocessing.json` state its
/// preprocessing. Stated sizes are checked against the bytes. Throws Error.
Model read_model(const std::filesystem::path& path);

/// Throws Error unless every value has one origin, operators follow those they depend on, and each has its required
/// inputs, so that callers may read those without a check.
void check_order(const Model& model);

}  // namespace protocom::onnx
