#include "http/detail/inference_protocol.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/feature_values.h"
#include "base/json_text.h"
#include "http/detail/http_error.h"
#include "http/detail/target.h"
#include "recognizer/answer_fields.h"

namespace protocom::http {
namespace {

using nlohmann::json;

constexpr int64_t kAnySize = -1;

/// A tensor of a response.
struct OutputTensor {
  std::string name, datatype;
  bool is_per_class;  ///< [n, k] instead of [n]
  std::function<json(const Answer& answer, size_t place)> value;
};

/// Makes the tensor of a field. Tensors hold no nulls: an unknown number is 0, a flag false.
OutputTensor tensor_of(const AnswerField& field) {
  const bool is_flag = field.type == AnswerField::Type::kFlag;
  const char* datatype = is_flag ? "BOOL" : field.type == AnswerField::Type::kNumber ? "FP32" : "BYTES";
  return {field.name, datatype, false, [&field, is_flag](const Answer& answer, size_t /*place*/) {
            json value = field.value(answer);
            if (value.is_null()) value = is_flag ? json(false) : json(0);
            return value;
          }};
}

const std::vector<OutputTensor>& outputs() {
  static const std::vector<OutputTensor> kOutputs = [] {
    const auto name = [](const Answer& answer, size_t place) { return json(answer.ranking.at(place).name); };
    const auto probability = [](const Answer& answer, size_t place) {
      return json(answer.ranking.at(place).probability);
    };
    std::vector<OutputTensor> all = {{"label", "BYTES", false, name}, {"probability", "FP32", false, probability}};
    for (const AnswerField& field : answer_fields()) all.push_back(tensor_of(field));
    all.push_back({"classes", "BYTES", true, name});
    all.push_back({"probabilities", "FP32", true, probability});
    return all;
  }();
  return kOutputs;
}

std::vector<std::string> names_of_outputs() {
  std::vector<std::string> names;
  for (const OutputTensor& output : outputs()) names.push_back(output.name);
  return names;
}

const json& member_of(const json& object, const char* name, const char* where) {
  if (!object.is_object() || !object.contains(name)) refuse(400, "{}: missing member '{}'", where, name);
  return object[name];
}

std::string text_of(const json& object, const char* name, const char* where) {
  const json& value = member_of(object, name, where);
  if (!value.is_string()) refuse(400, "{}: '{}': expected a string", where, name);
  return value.get<std::string>();
}

std::vector<int64_t> shape_of(const json& input) {
  constexpr int64_t kLargest = 1'000'000;
  const json& list = member_of(input, "shape", "the input");
  std::vector<int64_t> shape;
  for (const json& size : list.is_array() ? list : json::array()) {
    const bool is_size = size.is_number_integer() && size >= 0 && size <= kLargest;
    shape.push_back(is_size ? size.get<int64_t>() : kAnySize);
  }
  const bool is_shape = !shape.empty() && shape.size() <= 2 && *std::min_element(shape.begin(), shape.end()) >= 0;
  if (!is_shape) refuse(400, "the input: 'shape': expected one or two sizes, found {}", excerpt(json_text(list)));
  return shape;
}

/// Flattens a tensor in JSON, which may be nested lists.
void flatten(const json& data, std::vector<const json*>& to) {
  if (!data.is_array()) return to.push_back(&data);
  for (const json& item : data) flatten(item, to);
}

std::vector<const json*> data_of(const json& input, int64_t count) {
  const json& data = member_of(input, "data", "the input");
  if (!data.is_array()) refuse(400, "the input: 'data': expected a list");
  std::vector<const json*> values;
  flatten(data, values);
  if (static_cast<int64_t>(values.size()) != count)
    refuse(400, "the input: 'data' has {} values, 'shape' says {}", values.size(), count);
  return values;
}

void check_datatype(const json& input, const char* expected) {
  const std::string datatype = text_of(input, "datatype", "the input");
  if (datatype != expected) refuse(400, "the input: 'datatype': expected {}, found {}", expected, excerpt(datatype));
}

json images_in(const json& input) {
  check_datatype(input, "BYTES");
  const std::vector<int64_t> shape = shape_of(input);
  if (shape.size() == 2 && shape[1] != 1)
    refuse(400, "the input 'image': expected the shape [n] or [n, 1], found [{}, {}]", shape[0], shape[1]);
  json images = json::array();
  for (const json* image : data_of(input, shape[0])) images.push_back(*image);
  if (images.empty()) refuse(400, "the input 'image': expected at least one image, found none");
  return images;
}

Array features_in(const json& input, int64_t dim, int64_t most) {
  check_datatype(input, "FP32");
  const std::vector<int64_t> shape = shape_of(input);
  const int64_t rows = shape.size() == 2 ? shape[0] : 1;
  if (shape.back() != dim || rows == 0)
    refuse(400, "the input 'features': expected the shape [n, {}], found [{}]", dim, fmt::join(shape, ", "));
  if (rows > most) refuse(413, "a request has at most {} features", most);
  Array features = Array::uninitialised({rows, dim});
  float* to = features.mutable_data<float>();
  for (const json* value : data_of(input, rows * dim)) {
    if (!value->is_number())
      refuse(400, "the input 'features': expected numbers, found {}", excerpt(json_text(*value)));
    *to++ = static_cast<float>(value->get<double>());
  }
  if (const auto bad = find_bad_features(features))
    refuse(400, "feature {} of the input 'features' holds {}", bad->row, bad->reason);
  return features;
}

int64_t top_in(const json& body, int64_t otherwise, int64_t most) {
  const json parameters = body.value("parameters", json::object());
  if (!parameters.is_object()) refuse(400, "'parameters': expected an object");
  if (!parameters.contains("top")) return otherwise;
  const json& top = parameters["top"];
  if (!top.is_number_integer() || top < 1 || top > most)
    refuse(400, "the parameter 'top': expected a number from 1 to {}, found {}", most, excerpt(json_text(top)));
  return top.get<int64_t>();
}

std::vector<std::string> outputs_in(const json& body) {
  const json list = body.value("outputs", json::array());
  if (!list.is_array()) refuse(400, "'outputs': expected a list");
  const std::vector<std::string> known = names_of_outputs();
  std::vector<std::string> names;
  for (const json& output : list) {
    names.push_back(text_of(output, "name", "one of 'outputs'"));
    if (std::find(known.begin(), known.end(), names.back()) == known.end())
      refuse(400, "unknown output '{}': expected {}", excerpt(names.back()), fmt::join(known, ", "));
  }
  return names;
}

json tensor_json(const OutputTensor& output, const std::vector<Answer>& answers, size_t classes) {
  const size_t count = output.is_per_class ? classes : 1;
  json data = json::array();
  for (const Answer& answer : answers) {
    for (size_t place = 0; place < count; ++place) data.push_back(output.value(answer, place));
  }
  json shape = {answers.size()};
  if (output.is_per_class) shape.push_back(count);
  return {{"name", output.name}, {"datatype", output.datatype}, {"shape", shape}, {"data", data}};
}

}  // namespace

InferenceRequest read_inference_request(const json& body, int64_t dim, int64_t most, int64_t top, int64_t most_top) {
  InferenceRequest request;
  request.id = body.value("id", json());
  if (!request.id.is_null() && !request.id.is_string()) refuse(400, "'id': expected a string");
  request.top = top_in(body, top, most_top);
  request.outputs = outputs_in(body);
  const json& inputs = member_of(body, "inputs", "the body");
  if (!inputs.is_array() || inputs.size() != 1) refuse(400, "'inputs': expected one input, 'image' or 'features'");
  const std::string name = text_of(inputs[0], "name", "the input");
  if (name == "image")
    request.images = images_in(inputs[0]);
  else if (name == "features")
    request.features = features_in(inputs[0], dim, most);
  else
    refuse(400, "unknown input '{}': expected 'image' or 'features'", excerpt(name));
  return request;
}

json inference_response(const InferenceRequest& request, const std::string& model, const std::vector<Answer>& answers) {
  size_t classes = answers.empty() ? 0 : static_cast<size_t>(request.top);
  for (const Answer& answer : answers) classes = std::min(classes, answer.ranking.size());
  json response = {{"model_name", model}, {"outputs", json::array()}};
  if (!request.id.is_null()) response["id"] = request.id;
  for (const OutputTensor& output : outputs()) {
    const auto& wanted = request.outputs;
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), output.name) != wanted.end())
      response["outputs"].push_back(tensor_json(output, answers, classes));
  }
  return response;
}

json inference_metadata(const std::string& model, int64_t dim) {
  json tensors = json::array();
  for (const OutputTensor& output : outputs()) {
    json shape = {kAnySize};
    if (output.is_per_class) shape.push_back(kAnySize);
    tensors.push_back({{"name", output.name}, {"datatype", output.datatype}, {"shape", shape}});
  }
  const json inputs = {{{"name", "image"}, {"datatype", "BYTES"}, {"shape", {kAnySize}}},
                       {{"name", "features"}, {"datatype", "FP32"}, {"shape", {kAnySize, dim}}}};
  return {{"name", model}, {"platform", "protocom"}, {"inputs", inputs}, {"outputs", tensors}};
}

bool is_of_inference(std::string_view target) {
  constexpr std::string_view kRoot = "/v2";
  return target.substr(0, kRoot.size()) == kRoot &&
         (target.size() == kRoot.size() || target[kRoot.size()] == '/' || target[kRoot.size()] == '?');
}

Response in_form_of_inference(Response response) {
  constexpr int kFirstError = 400;
  if (response.status < kFirstError) return response;
  const json error = json_from_text(response.body).at("error");
  response.body = json_response({{"error", error.at("message")}}).body;
  return response;
}

}  // namespace protocom::http
