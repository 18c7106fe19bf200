#include "protocom/fewshot/completion_model.h"

#include <ATen/ATen.h>

#include <cmath>

#include "protocom/core/error.h"

namespace protocom {
namespace {

constexpr const char* kKind = "protocomnet";
constexpr int kFormatVersion = 1;

at::Tensor read_shaped(const NpzReader& reader, const std::string& name, at::IntArrayRef shape) {
  at::Tensor tensor = reader.tensor(name).to(at::kFloat);
  if (tensor.sizes() != shape) {
    fail("{}: '{}' has the shape [{}], expected [{}]", reader.path().string(), name, fmt::join(tensor.sizes(), ", "),
         fmt::join(shape, ", "));
  }
  return tensor;
}

ProtoComNetOptions options_from(const nlohmann::json& json, const std::string& where) {
  ProtoComNetOptions options;
  try {
    json.at("feature_dim").get_to(options.feature_dim);
    json.at("embedding_dim").get_to(options.embedding_dim);
    json.at("code_dim").get_to(options.code_dim);
    json.at("attention_hidden").get_to(options.attention_hidden);
    json.at("decoder_hidden").get_to(options.decoder_hidden);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the header's network sizes are damaged: {}", where, error.what());
  }
  return options;
}

std::vector<std::string> trained_on_from(const nlohmann::json& json, const std::string& where) {
  try {
    return json.value("trained_on", std::vector<std::string>());
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the header's list of base classes is damaged: {}", where, error.what());
  }
}

/// Joint meta-training wrote it as `scale` before it was read.
double gamma_from(const nlohmann::json& json, const std::string& where) {
  try {
    const double gamma = json.value("gamma", json.value("scale", kDefaultGamma));
    if (std::isfinite(gamma) && gamma > 0) return gamma;
  } catch (const nlohmann::json::exception&) {
  }
  fail("{}: the header's gamma is damaged: it should be a number above 0", where);
}

nlohmann::json to_json(const ProtoComNetOptions& options) {
  return {{"feature_dim", options.feature_dim},
          {"embedding_dim", options.embedding_dim},
          {"code_dim", options.code_dim},
          {"attention_hidden", options.attention_hidden},
          {"decoder_hidden", options.decoder_hidden}};
}

}  // namespace

void write_completion_model(const std::filesystem::path& path, const CompletionModel& model,
                            const Provenance& provenance, const nlohmann::json& details) {
  ArtefactHeader header = make_header(kKind, kFormatVersion, provenance);
  header.details = details;
  header.details["network"] = to_json(model.network.options());
  if (!model.trained_on.empty()) header.details["trained_on"] = model.trained_on;
  header.details["gamma"] = model.gamma;
  NpzWriter writer(path);
  for (const auto& [name, tensor] : model.network.state_dict()) writer.add("network." + name, tensor);
  writer.add("attributes", model.attributes);
  writer.add("attribute_embedding", model.attribute_embedding);
  writer.add("attribute_mean", model.attribute_mean);
  writer.add("attribute_std", model.attribute_std);
  add_header(writer, header);
  writer.close();
}

CompletionModel read_completion_model(const std::filesystem::path& path) {
  const NpzReader reader(path);
  const ArtefactHeader header = read_header(reader, kKind, kFormatVersion);
  const auto sizes = options_from(header.details.value("network", nlohmann::json::object()), path.string());
  CompletionModel model{ProtoComNet(sizes), reader.strings("attributes"), {}, {}, {}};
  model.gamma = gamma_from(header.details, path.string());
  model.trained_on = trained_on_from(header.details, path.string());
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : model.network.state_dict()) {
    tensor.copy_(read_shaped(reader, "network." + name, tensor.sizes()));
  }
  const auto attributes = static_cast<int64_t>(model.attributes.size());
  model.attribute_embedding = read_shaped(reader, "attribute_embedding", {attributes, sizes.embedding_dim});
  model.attribute_mean = read_shaped(reader, "attribute_mean", {attributes, sizes.feature_dim});
  model.attribute_std = read_shaped(reader, "attribute_std", {attributes, sizes.feature_dim});
  return model;
}

}  // namespace protocom
