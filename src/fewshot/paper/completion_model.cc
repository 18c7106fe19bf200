#include "fewshot/paper/completion_model.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/feature_values.h"
#include "base/json_text.h"
#include "io/files.h"
#include "io/json.h"

namespace protocom {
namespace {

constexpr const char* kModelKind = "protocomnet";
constexpr int kModelVersion = 1;

Array read_shaped(const NpzReader& reader, const std::string& name, const Shape& shape) {
  const Array stored = reader.array(name);
  if (stored.shape() != shape) {
    fail("{}: '{}' has the shape [{}], expected [{}]", reader.path().string(), name, fmt::join(stored.shape(), ", "),
         fmt::join(shape, ", "));
  }
  Array array = stored.to(NumberType::kFloat32);
  if (!is_finite(array)) fail("{}: '{}' is not finite", reader.path().string(), name);
  return array;
}

ProtoComNetOptions options_from(const nlohmann::json& header, const std::string& where) {
  ProtoComNetOptions options;
  try {
    options.feature_dim = whole_number<int64_t>(header.at("feature_dim"));
    options.embedding_dim = whole_number<int64_t>(header.at("embedding_dim"));
    options.code_dim = whole_number<int64_t>(header.at("code_dim"));
    options.attention_hidden = whole_number<int64_t>(header.at("attention_hidden"));
    options.decoder_hidden = whole_number<int64_t>(header.at("decoder_hidden"));
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the header's network sizes are damaged: {}", where, reason_of(error));
  }
  return options;
}

/// Checks the sizes stated in the file before anything is computed from them.
void check_sizes(const NpzReader& reader, const ProtoComNetOptions& sizes) {
  constexpr int64_t kMost = int64_t{1} << 30;
  for (const int64_t size :
       {sizes.feature_dim, sizes.embedding_dim, sizes.code_dim, sizes.attention_hidden, sizes.decoder_hidden}) {
    if (size < 1 || size > kMost) fail("{}: the header's network sizes are damaged: {}", reader.path().string(), size);
  }
}

std::vector<std::string> trained_on_from(const nlohmann::json& header, const std::string& where) {
  try {
    return header.value("trained_on", std::vector<std::string>());
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the header's list of base classes is damaged: {}", where, reason_of(error));
  }
}

double gamma_from(const nlohmann::json& header, const std::string& where) {
  try {
    const double gamma = header.value("gamma", kDefaultGamma);
    if (std::isfinite(gamma) && gamma > 0) return gamma;
  } catch (const nlohmann::json::exception&) {
  }
  fail("{}: the header's gamma is damaged: expected a number above 0", where);
}

std::string inductive_method_from(const nlohmann::json& header, const std::string& where) {
  const auto found = header.find("inductive_method");
  if (found == header.end()) return "mean-fusion";
  for (const char* row : {"mean", "completed", "mean-fusion"}) {
    if (*found == row) return row;
  }
  fail("{}: the header's inductive method is {}, expected mean, completed or mean-fusion", where,
       excerpt(json_text(*found)));
}

nlohmann::json to_json(const ProtoComNetOptions& options) {
  return {{"feature_dim", options.feature_dim},
          {"embedding_dim", options.embedding_dim},
          {"code_dim", options.code_dim},
          {"attention_hidden", options.attention_hidden},
          {"decoder_hidden", options.decoder_hidden}};
}

}  // namespace

const Array& CompletionModel::weight(const std::string& name) const {
  for (const auto& [key, array] : weights) {
    if (key == name) return array;
  }
  fail("the completion model has no weights '{}'", name);
}

void write_completion_model(const std::filesystem::path& path, const CompletionModel& model,
                            const Provenance& provenance, const nlohmann::json& details) {
  ArtefactHeader header = make_header(kModelKind, kModelVersion, provenance);
  header.details = details;
  header.details["network"] = to_json(model.sizes);
  if (!model.trained_on.empty()) header.details["trained_on"] = model.trained_on;
  header.details["gamma"] = model.gamma;
  header.details["inductive_method"] = model.inductive_method;
  NpzWriter writer(path);
  for (const auto& [name, array] : model.weights) writer.add("network." + name, array);
  writer.add("attributes", model.attributes);
  writer.add("attribute_embedding", model.attribute_embedding);
  writer.add("attribute_mean", model.attribute_mean);
  writer.add("attribute_std", model.attribute_std);
  add_header(writer, header);
  writer.close();
}

namespace {

CompletionModel read(const std::filesystem::path& path) {
  const NpzReader reader(path);
  const ArtefactHeader header = read_header(reader, kModelKind, kModelVersion);
  const auto sizes = options_from(header.details.value("network", nlohmann::json::object()), path.string());
  check_sizes(reader, sizes);
  CompletionModel model;
  model.sizes = sizes;
  for (const auto& [name, shape] : weight_shapes(sizes))
    model.weights.emplace_back(name, read_shaped(reader, "network." + name, shape));
  model.attributes = reader.strings("attributes");
  model.gamma = gamma_from(header.details, path.string());
  model.trained_on = trained_on_from(header.details, path.string());
  model.inductive_method = inductive_method_from(header.details, path.string());
  const auto attributes = static_cast<int64_t>(model.attributes.size());
  model.attribute_embedding = read_shaped(reader, "attribute_embedding", {attributes, sizes.embedding_dim});
  model.attribute_mean = read_shaped(reader, "attribute_mean", {attributes, sizes.feature_dim});
  model.attribute_std = read_shaped(reader, "attribute_std", {attributes, sizes.feature_dim});
  const auto* deviation = model.attribute_std.data<float>();
  if (std::any_of(deviation, deviation + model.attribute_std.numel(), [](float value) { return value < 0; }))
    fail("{}: 'attribute_std' holds a standard deviation below 0", path.string());
  return model;
}

}  // namespace

CompletionModel read_completion_model(const std::filesystem::path& path) {
  return reading(path, [&] { return read(path); });
}

}  // namespace protocom
