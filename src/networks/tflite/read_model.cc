#include <algorithm>
#include <set>

#include "base/error.h"
#include "io/files.h"
#include "networks/tflite/detail/model.h"
#include "networks/tflite/detail/translator.h"

/// Fields have the numbers of https://github.com/tensorflow/tensorflow/blob/master/tensorflow/lite/schema/schema.fbs.
namespace protocom::tflite {
namespace {

constexpr size_t kShares = 4;
constexpr size_t kMostInputs = 1000;  // of an operator; a concatenation of maps has some dozens

int32_t code_of(const FlatTable& table) {
  const int32_t old{table.number<int8_t>(0, 0)};
  return std::max(old, table.number<int32_t>(3, 0));
}

/// Returns the preprocessing of pixels by the input's quantisation: q = 255 x is (q - zero) * scale.
Preprocessing stated(const Tensor& input) {
  Preprocessing images;
  const auto& shape = input.shape;
  if (shape.size() != 4 || shape[3] != 3 || shape[1] != shape[2] || shape[1] < 1)
    fail("the input has {} axes, expected square images of three channels", shape.size());
  if (input.type != at::kByte && input.type != at::kChar) return images;
  if (input.scales.size() != 1 || !(input.scales[0] > 0)) return images;
  const double zero =
      input.zeros.empty() ? 0 : static_cast<double>(input.zeros[0]) + (input.type == at::kChar ? 128 : 0);
  images.image_size = shape[1];
  images.mean.assign(3, zero / 255);
  images.std.assign(3, 1 / (255 * static_cast<double>(input.scales[0])));
  return images;
}

Operator operator_of(const FlatTable& table) {
  const bool has_options = table.has(4);
  Operator item{table.numbers<int32_t>(1), table.numbers<int32_t>(2), has_options,
                has_options ? table.table(4) : table};
  if (item.inputs.size() > kMostInputs)
    fail("an operator has {} inputs, expected at most {}", item.inputs.size(), kMostInputs);
  return item;
}

/// Appends numbers to tensors' names that are not unique. Few of the new names are taken already.
void make_unique(std::vector<Tensor>& tensors) {
  std::set<std::string> names;
  for (size_t i = 0; i < tensors.size(); ++i) {
    while (!names.insert(tensors[i].name).second) tensors[i].name += "'" + std::to_string(i);
  }
}

onnx::Model translate(const FlatTable& root, size_t file_bytes) {
  const std::vector<FlatTable> graphs = root.tables(2);
  if (graphs.size() != 1) fail("it has {} graphs, expected one", graphs.size());
  const std::vector<FlatTable> buffers = root.tables(4);
  std::vector<Tensor> tensors;
  // Several tensors may share a part of the file, several operators one tensor, and a byte becomes a float.
  const size_t most_values = std::max(kShares * file_bytes, size_t{1} << 16);
  size_t values = 0;
  for (const FlatTable& table : graphs[0].tables(0)) {
    tensors.push_back(read_tensor(table, buffers, tensors.size()));
    if (tensors.back().constant.defined()) values += static_cast<size_t>(tensors.back().constant.numel());
    if (values > most_values)
      fail("its tensors have more than {} values, in a file of {} bytes", most_values, file_bytes);
  }
  make_unique(tensors);
  const std::vector<int32_t> inputs = graphs[0].numbers<int32_t>(1);
  const std::vector<int32_t> outputs = graphs[0].numbers<int32_t>(2);
  if (inputs.size() != 1 || outputs.empty())
    fail("it has {} inputs and {} outputs, expected one image", inputs.size(), outputs.size());
  const std::vector<FlatTable> codes = root.tables(1);
  Translator to(std::move(tensors), most_values);
  const Tensor& images = to.tensor(inputs[0]);
  to.model.stated = stated(images);
  to.model.inputs = {{to.value(images), {images.shape[0], 3, images.shape[1], images.shape[2]}}};
  for (const FlatTable& table : graphs[0].tables(3)) {
    const auto index = table.number<uint32_t>(0, 0);
    if (index >= codes.size()) fail("operator kind {} is out of range: there are {}", index, codes.size());
    const int32_t code = code_of(codes[index]);
    const Translate translation = translation_of(code);
    if (!translation)
      fail("the operator {} of TensorFlow Lite{} is not supported", code,
           codes[index].has(1) ? fmt::format(" ('{}')", excerpt(codes[index].text(1))) : "");
    translation(to, operator_of(table));
  }
  for (const int32_t number : outputs) to.model.outputs.push_back({to.value(to.tensor(number)), {}});
  return std::move(to.model);
}

}  // namespace

bool looks_like_tflite(std::string_view bytes) {
  return bytes.substr(0, 8).size() == 8 && bytes.substr(4, 4) == "TFL3";
}

onnx::Model read_model(const std::filesystem::path& path) {
  return reading(path, [&] {
    const MappedFile file(path);
    onnx::Model read = translate(FlatTable::root(file.bytes()), file.bytes().size());
    onnx::check_order(read);
    return read;
  });
}

}  // namespace protocom::tflite
