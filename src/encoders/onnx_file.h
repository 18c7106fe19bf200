#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "images/preprocessing.h"
#include "io/files.h"

/// ONNX files as bytes: what can be read and changed without an engine that runs them.
namespace protocom::onnx {

/// An input or an output of the graph.
struct GraphValue {
  std::string name;
  std::vector<int64_t> sizes = {};  ///< -1: any; empty: not stated
  int64_t type = 0;                 ///< TensorProto.DataType; 0: not stated
};

/// The contents of a file apart from its operators and tensors.
struct Outline {
  int64_t opset = 0;                    ///< version of ONNX's own operators
  std::vector<GraphValue> inputs = {};  ///< without constants
  std::vector<GraphValue> outputs = {};
  std::map<std::string, std::string> metadata = {};  ///< by name
  Preprocessing stated = {};                         ///< of its images; size 0: not stated
};

/// Whether the bytes have the structure of an ONNX file (a protobuf with its fields), which has no magic number.
bool looks_like_onnx(std::string_view bytes);

/// Reads the outline of an ONNX file, whose metadata `preprocessing.json` state its images. Throws Error.
Outline read_outline(const std::filesystem::path& path);

/// Returns the preprocessing stated in the metadata of the file `path`, else in Hugging Face's preprocessor_config.json
/// in its folder. Throws Error.
Preprocessing stated_in(const std::map<std::string, std::string>& metadata, const std::filesystem::path& path);

/// Reads a ValueInfoProto.
GraphValue read_value(protozero::pbf_reader reader);
/// Reads an OperatorSetIdProto: its version, 0 for operators other than ONNX's own.
int64_t read_opset(protozero::pbf_reader reader);

/// Returns the output that is the image's feature: the only one, or the one with a name that exporters use. Throws
/// Error with the names to choose from, and for an exported recognizer without its encoder's feature.
std::string feature_output(const std::vector<GraphValue>& outputs);
/// Returns "features [n, 1280], logits [n, 1000]", for messages.
std::string list_of(const std::vector<GraphValue>& values);

/// Whether one of `count` tokens [n, t, d] is a class token: without one, the tokens of a square's positions are a
/// square number.
bool have_class_token(int64_t count);

/// The image input of a graph.
struct ImageInput {
  std::string name;
  bool channels_last = false;  ///< [n, h, w, 3]; else [n, 3, h, w]
  int64_t side = 0;            ///< pixels; 0: any
  int64_t batch = 0;           ///< images at once; 0: any
  int64_t type = 0;            ///< see GraphValue
};
/// Returns the image input. Throws Error unless `inputs` is one input of square colour images; `output` is what is
/// computed, for messages.
ImageInput image_input(const std::vector<GraphValue>& inputs, const std::string& output);

/// Runs `read`; converts an exception of protozero to an Error that names the file.
template <typename Read>
auto as_onnx(const std::filesystem::path& path, const Read& read) {
  return reading(path, [&] {
    try {
      return read();
    } catch (const protozero::exception& error) {
      fail("{} is not an ONNX file, or is cut off ({})", path.string(), error.what());
    }
  });
}

}  // namespace protocom::onnx
