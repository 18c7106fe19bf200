#include "encoders/onnx_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/text.h"
#include "encoders/feature_names.h"
#include "encoders/huggingface_images.h"
#include "encoders/onnx_tensor_files.h"
#include "encoders/output_checks.h"
#include "encoders/protobuf.h"
#include "io/json.h"

namespace protocom::onnx {
namespace {

using protozero::pbf_reader;

constexpr const char* kStatedInMetadata = "preprocessing.json";
constexpr const char* kTokens = "last_hidden_state";

/// Field numbers, named after their message.
constexpr protozero::pbf_tag_type kModelGraph = 7, kModelOpset = 8, kModelMetadata = 14;
constexpr protozero::pbf_tag_type kGraphInitializer = 5, kGraphValue = 11, kGraphOutput = 12;
constexpr protozero::pbf_tag_type kTensorName = 8;

/// Reads a TensorShapeProto; a size without a number is -1.
std::vector<int64_t> read_sizes(pbf_reader reader) {
  std::vector<int64_t> sizes;
  while (reader.next(1)) {
    pbf_reader dim = read_message(reader);
    int64_t size = -1;
    read_fields(dim, Field{1, [&] { size = read_integer(dim); }});
    sizes.push_back(size > 0 ? size : -1);
  }
  return sizes;
}

/// Returns the only output with this many dimensions.
const GraphValue* only_one(const std::vector<GraphValue>& values, size_t sizes) {
  const auto fits = [&](const GraphValue& value) { return value.sizes.size() == sizes; };
  if (std::count_if(values.begin(), values.end(), fits) != 1) return nullptr;
  return &*std::find_if(values.begin(), values.end(), fits);
}

bool has(const std::vector<GraphValue>& values, std::string_view name) {
  return std::any_of(values.begin(), values.end(), [&](const GraphValue& value) { return value.name == name; });
}

/// Whether these are the outputs of an exported recognizer (recognizer/export_onnx.h).
bool is_recognizer(const std::vector<GraphValue>& outputs) {
  return has(outputs, "probabilities") && has(outputs, "familiarity") && has(outputs, "label");
}

/// Reads the name of a TensorProto.
std::string read_name(pbf_reader tensor) {
  std::string name;
  read_fields(tensor, Field{kTensorName, [&] { name = read_text(tensor); }});
  return name;
}

/// Reads inputs and outputs of a GraphProto. Files of old versions list the constants among the inputs.
void read_ends(pbf_reader graph, Outline& outline) {
  std::set<std::string> constants;
  std::vector<GraphValue> inputs;
  read_fields(graph, Field{kGraphInitializer, [&] { constants.insert(read_name(read_message(graph))); }},
              Field{kGraphValue, [&] { inputs.push_back(read_value(read_message(graph))); }},
              Field{kGraphOutput, [&] { outline.outputs.push_back(read_value(read_message(graph))); }});
  for (GraphValue& input : inputs) {
    if (constants.count(input.name) == 0) outline.inputs.push_back(std::move(input));
  }
}

}  // namespace

GraphValue read_value(pbf_reader reader) {
  GraphValue input;
  const auto read_tensor = [&](pbf_reader tensor) {
    read_fields(tensor, Field{1, [&] { input.type = read_integer(tensor); }},
                Field{2, [&] { input.sizes = read_sizes(read_message(tensor)); }});
  };
  const auto read_type = [&](pbf_reader type) {
    while (type.next(1)) read_tensor(read_message(type));
  };
  read_fields(reader, Field{1, [&] { input.name = read_text(reader); }},
              Field{2, [&] { read_type(read_message(reader)); }});
  return input;
}

int64_t read_opset(pbf_reader reader) {
  std::string domain;
  int64_t version = 0;
  read_fields(reader, Field{1, [&] { domain = read_text(reader); }}, Field{2, [&] { version = read_integer(reader); }});
  return domain.empty() || domain == "ai.onnx" ? version : 0;
}

Preprocessing stated_in(const std::map<std::string, std::string>& metadata, const std::filesystem::path& path) {
  const auto found = metadata.find(kStatedInMetadata);
  if (found == metadata.end()) return huggingface::preprocessing_beside(path);
  const std::string what = path.string() + ", " + kStatedInMetadata;
  return stated_preprocessing(parse_json(found->second, what), what);
}

Outline read_outline(const std::filesystem::path& path) {
  return as_onnx(path, [&] {
    const MappedFile file(path);
    Outline outline;
    pbf_reader reader(file.bytes().data(), file.bytes().size());
    read_fields(reader, Field{kModelGraph, [&] { read_ends(read_message(reader), outline); }},
                Field{kModelOpset, [&] { outline.opset = std::max(outline.opset, read_opset(read_message(reader))); }},
                Field{kModelMetadata, [&] { outline.metadata.insert(read_pair(read_message(reader))); }});
    outline.stated = stated_in(outline.metadata, path);
    return outline;
  });
}

std::string list_of(const std::vector<GraphValue>& values) {
  std::vector<std::string> texts;
  for (const GraphValue& value : values) {
    std::vector<std::string> sizes;
    for (const int64_t size : value.sizes) sizes.push_back(size < 0 ? "n" : std::to_string(size));
    texts.push_back(fmt::format("{} [{}]", value.name, fmt::join(sizes, ", ")));
  }
  return first_of(texts, 12);
}

std::string feature_output(const std::vector<GraphValue>& outputs) {
  if (outputs.size() == 1) return outputs.front().name;
  for (const char* name : kFeatureNames) {
    if (has(outputs, name)) return name;
  }
  if (is_recognizer(outputs))
    fail(
        "it is an exported recognizer, whose outputs are no features: export it with --with-feature, or give its "
        "encoder");
  for (const size_t sizes : {2U, 4U}) {
    if (const GraphValue* found = only_one(outputs, sizes)) return found->name;
  }
  if (has(outputs, kTokens)) return kTokens;
  refuse_choice_of_output(list_of(outputs));
}

bool have_class_token(int64_t count) {
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(count))));
  return side * side != count;
}

ImageInput image_input(const std::vector<GraphValue>& inputs, const std::string& output) {
  if (inputs.size() != 1 || (!inputs.front().sizes.empty() && inputs.front().sizes.size() != 4)) {
    fail("'{}' needs {}: expected one input of images [n, 3, h, w]; export the image tower alone", excerpt(output),
         list_of(inputs));
  }
  constexpr std::array<int64_t, 8> kWhole = {2, 3, 4, 5, 6, 7, 12, 13};  // TensorProto.DataType, uint8 to uint64
  if (std::find(kWhole.begin(), kWhole.end(), inputs.front().type) != kWhole.end())
    fail(
        "its images are whole numbers, expected float32 or float16: export it for images in [0, 1] (export-onnx: "
        "without --uint8)");
  const std::vector<int64_t>& sizes = inputs.front().sizes;
  ImageInput input{inputs.front().name, false, 0, 0, inputs.front().type};
  if (sizes.empty()) return input;
  input.channels_last = sizes[1] != 3 && sizes[3] == 3;
  if (!input.channels_last && sizes[1] != 3 && sizes[1] != -1) fail("the input has {} channels, expected 3", sizes[1]);
  const int64_t height = sizes[input.channels_last ? 1 : 2];
  const int64_t width = sizes[input.channels_last ? 2 : 3];
  if (height > 0 && width > 0 && height != width) fail("the input is {} x {} pixels, expected a square", width, height);
  if (height > 0 && width > 0) input.side = height;
  input.batch = std::max<int64_t>(sizes[0], 0);
  return input;
}

bool looks_like_onnx(std::string_view bytes) {
  static const std::set<protozero::pbf_tag_type> kFields = {1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26};
  bool graph = false;
  try {
    for (pbf_reader reader(bytes.data(), bytes.size()); reader.next(); reader.skip()) {
      if (kFields.count(reader.tag()) == 0) return false;
      graph = graph || reader.tag() == kModelGraph;
    }
  } catch (const protozero::exception&) {
    return bytes.size() > 1 && bytes[0] == 8 && bytes[1] > 0 && bytes[1] < 32;  // truncated after its version
  }
  return graph;
}

}  // namespace protocom::onnx
