#include "recognizer/detail/encoder_graph.h"

#include <fmt/ranges.h>

#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "encoders/onnx_file.h"
#include "encoders/onnx_kept_graph.h"
#include "io/files.h"

namespace protocom {
namespace {

using onnx::GraphWriter;
using onnx::ValueType;

std::string kept_name(const std::string& name) { return onnx::kKeptPrefix + name; }

/// Adds a constant with one number per channel, shaped for the image layout.
std::string channel_constant(const std::vector<double>& values, bool channels_last, GraphWriter& graph) {
  const std::vector<float> numbers(values.begin(), values.end());
  const std::vector<int64_t> sizes =
      channels_last ? std::vector<int64_t>{1, 1, 1, 3} : std::vector<int64_t>{1, 3, 1, 1};
  return graph.numbers(numbers, sizes);
}

/// Adds the operators from the input `image` to the encoder's input: (x / 255 - mean) / std.
void add_images(const onnx::ImageInput& input, const ExportedImages& images, GraphWriter& graph) {
  std::string x = "image";
  if (images.uint8) x = graph.node("Mul", {graph.cast(x, ValueType::kFloat32), graph.number(1.0F / 255.0F)});
  if (images.uint8 && !input.channels_last)
    x = graph.node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
  if (!images.uint8 && input.channels_last)
    x = graph.node("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}});
  if (const Preprocessing& own = images.preprocessing; own.normalises()) {
    x = graph.node("Sub", {x, channel_constant(own.mean, input.channels_last, graph)});
    x = graph.node("Div", {x, channel_constant(own.std, input.channels_last, graph)});
  }
  if (input.type == static_cast<int64_t>(ValueType::kFloat16)) x = graph.cast(x, ValueType::kFloat16);
  graph.node("Identity", {x}, {}, kept_name(input.name));
}

/// Returns the class token of [n, t, d], or the mean of all tokens.
std::string token_feature(const std::string& tokens, int64_t count, int64_t dim, GraphWriter& graph) {
  if (count < 1) fail("the number of tokens of its output is not stated: export the encoder for images of one size");
  if (!onnx::have_class_token(count)) return graph.reduced("ReduceMean", tokens, 1, /*keep=*/false);
  const std::string first = graph.node("Gather", {tokens, graph.integers({0})}, {{"axis", int64_t{1}}});
  return graph.node("Reshape", {first, graph.integers({-1, dim})});
}

/// Makes features [n, d] from the encoder's output, as encoders/onnxruntime does.
std::string add_feature(const onnx::GraphValue& output, bool channels_last, int64_t dim, GraphWriter& graph) {
  std::string x = kept_name(output.name);
  if (output.type == static_cast<int64_t>(ValueType::kFloat16)) x = graph.cast(x, ValueType::kFloat32);
  const std::vector<int64_t>& sizes = output.sizes;
  if (sizes.size() == 2) return x;
  if (sizes.size() == 3) return token_feature(x, sizes[1], dim, graph);
  if (sizes.size() != 4)
    fail("its output '{}' is [{}], expected features [n, d], maps or tokens: export the encoder with one of them",
         excerpt(output.name), fmt::join(sizes, ", "));
  const int64_t second = channels_last ? 2 : 3;
  x = graph.reduced("ReduceMean", x, second, /*keep=*/false);
  return graph.reduced("ReduceMean", x, second - 1, /*keep=*/false);
}

const onnx::GraphValue& output_called(const std::string& name, const onnx::Outline& outline) {
  for (const onnx::GraphValue& output : outline.outputs) {
    if (output.name == name) return output;
  }
  fail("missing output '{}'", excerpt(name));
}

}  // namespace

EncoderGraph encoder_graph(const std::filesystem::path& path, const ExportedImages& images) {
  return reading(path, [&] {
    const onnx::Outline outline = onnx::read_outline(path);
    const onnx::GraphValue& output = output_called(onnx::feature_output(outline.outputs), outline);
    const onnx::ImageInput input = onnx::image_input(outline.inputs, output.name);
    EncoderGraph made{GraphWriter(onnx::kept_graph(path, images.weights, images.tensors)),
                      {},
                      ValueType::kFloat32,
                      {},
                      outline.metadata};
    const int64_t side = images.preprocessing.image_size, n = input.batch > 0 ? input.batch : -1;
    if (images.uint8) made.type = ValueType::kUInt8;
    made.sizes = images.uint8 ? std::vector<int64_t>{n, side, side, 3} : std::vector<int64_t>{n, 3, side, side};
    made.graph.input("image", made.type, made.sizes);
    add_images(input, images, made.graph);
    made.graph.add_encoder();
    made.feature = add_feature(output, input.channels_last, images.dim, made.graph);
    return made;
  });
}

}  // namespace protocom
