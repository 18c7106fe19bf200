#include "protocom/fewshot/plda_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "protocom/core/error.h"

namespace protocom {
namespace {

constexpr const char* kKind = "plda";
constexpr int kFormatVersion = 1;

/// Which rows say anything, bool [n].
at::Tensor described(const ClassDescriptions& descriptions) {
  at::Tensor any;
  for (const at::Tensor& part : {descriptions.association, descriptions.embedding}) {
    if (!part.defined()) continue;
    const at::Tensor here = part.ne(0).any(-1);
    any = any.defined() ? any.logical_or(here) : here;
  }
  return any;
}

nlohmann::json settings_of(const PldaModel& model) {
  return {{"leading", model.space.leading},
          {"attribute_weight", model.knowledge_options.attribute_weight},
          {"word_weight", model.knowledge_options.word_weight},
          {"ridge", model.knowledge_options.ridge},
          {"steps", model.vb.steps},
          {"trust", model.vb.trust},
          {"spread", model.vb.spread},
          {"concentration", model.vb.concentration},
          {"inductive_scale", model.inductive_scale},
          {"transductive_scale", model.transductive_scale},
          {"explained", model.explained}};
}

void read_settings(const nlohmann::json& details, const std::string& where, PldaModel& model) {
  try {
    const nlohmann::json& json = details.at("settings");
    json.at("leading").get_to(model.space.leading);
    json.at("attribute_weight").get_to(model.knowledge_options.attribute_weight);
    json.at("word_weight").get_to(model.knowledge_options.word_weight);
    json.at("ridge").get_to(model.knowledge_options.ridge);
    json.at("steps").get_to(model.vb.steps);
    json.at("trust").get_to(model.vb.trust);
    json.at("spread").get_to(model.vb.spread);
    json.at("concentration").get_to(model.vb.concentration);
    json.at("inductive_scale").get_to(model.inductive_scale);
    json.at("transductive_scale").get_to(model.transductive_scale);
    json.at("explained").get_to(model.explained);
    model.trained_on = details.value("trained_on", std::vector<std::string>());
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the header's settings are damaged: {}", where, error.what());
  }
  if (model.vb.steps < 0 || !(model.inductive_scale > 0) || !(model.transductive_scale > 0)) {
    fail("{}: the header's settings are out of their range: expected steps of at least 0 and scales above 0", where);
  }
}

/// A member of the file with this shape, in float64; -1: any size.
at::Tensor read_finite(const NpzReader& reader, const std::string& name, at::IntArrayRef shape) {
  const at::Tensor tensor = reader.tensor(name).to(at::kDouble);
  bool fits = tensor.dim() == static_cast<int64_t>(shape.size());
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] < 0 || tensor.size(static_cast<int64_t>(i)) == shape[i];
  }
  if (!fits) {
    fail("{}: '{}' has the shape [{}], expected [{}] (-1: any size)", reader.path().string(), name,
         fmt::join(tensor.sizes(), ", "), fmt::join(shape, ", "));
  }
  if (!tensor.isfinite().all().item<bool>()) {
    fail("{}: '{}' holds a value that is not finite; fit the model again", reader.path().string(), name);
  }
  return tensor;
}

at::Tensor read_variance(const NpzReader& reader, const std::string& name, int64_t size) {
  at::Tensor variance = read_finite(reader, name, {size});
  if (variance.lt(0).any().item<bool>()) fail("{}: '{}' holds a negative variance", reader.path().string(), name);
  return variance;
}

KernelRidge read_knowledge_part(const NpzReader& reader, const KernelRidgeOptions& options, int64_t dims) {
  at::Tensor dual = read_finite(reader, "dual", {-1, dims});
  const int64_t classes = dual.size(0);
  at::Tensor attribute_rows;
  at::Tensor idf;
  at::Tensor embedding_rows;
  at::Tensor center;
  if (reader.has("attribute_rows")) {
    attribute_rows = read_finite(reader, "attribute_rows", {classes, -1});
    idf = read_finite(reader, "attribute_idf", {attribute_rows.size(1)});
  }
  if (reader.has("embedding_rows")) {
    embedding_rows = read_finite(reader, "embedding_rows", {classes, -1});
    center = read_finite(reader, "embedding_center", {embedding_rows.size(1)});
  }
  if (!idf.defined() && !center.defined()) {
    fail("{}: expected 'attribute_rows' or 'embedding_rows' beside 'dual', found neither", reader.path().string());
  }
  return {DescriptionKernel(attribute_rows, idf, embedding_rows, center, options), std::move(dual)};
}

void add_knowledge(NpzWriter& writer, const KernelRidge& knowledge) {
  writer.add("dual", knowledge.dual);
  if (knowledge.kernel.attribute_rows().defined()) {
    writer.add("attribute_rows", knowledge.kernel.attribute_rows());
    writer.add("attribute_idf", knowledge.kernel.idf());
  }
  if (knowledge.kernel.embedding_rows().defined()) {
    writer.add("embedding_rows", knowledge.kernel.embedding_rows());
    writer.add("embedding_center", knowledge.kernel.embedding_center());
  }
}

}  // namespace

ClassMeanPrior PldaModel::prior(const ClassDescriptions& descriptions, int64_t n) const {
  if (!knowledge || descriptions.empty()) return no_knowledge(space.between.to(at::kFloat), {n});
  const at::Tensor mean = knowledge->predict(descriptions).to(at::kFloat);
  const at::Tensor known = described(descriptions);
  if (known.all().item<bool>()) return {mean, residual.to(at::kFloat)};
  return {mean, at::where(known.unsqueeze(-1), residual, space.between).to(at::kFloat)};
}

ClassMeanPrior PldaModel::given_prior(const at::Tensor& completed, double unexplained) const {
  if (!(unexplained >= 0 && unexplained <= 1)) {
    fail_usage("an unexplained share of {} was asked for, expected [0, 1]", unexplained);
  }
  return {space.transform(completed), (unexplained * space.between).to(completed.scalar_type())};
}

std::string knowledge_sentence(const PldaModel& model) {
  if (!model.knowledge) return "The model was fitted without knowledge of the classes.";
  return fmt::format("Knowledge explains {:.0f} % of what distinguishes classes that the space was not fitted on.",
                     100 * std::max(0.0, model.explained));
}

void write_plda_model(const std::filesystem::path& path, const PldaModel& model, const Provenance& provenance,
                      const nlohmann::json& details) {
  ArtefactHeader header = make_header(kKind, kFormatVersion, provenance);
  header.details = details;
  header.details["settings"] = settings_of(model);
  if (!model.trained_on.empty()) header.details["trained_on"] = model.trained_on;
  NpzWriter writer(path);
  writer.add("center", model.space.center);
  writer.add("projection", model.space.projection.contiguous());
  writer.add("offset", model.space.offset);
  writer.add("between", model.space.between);
  writer.add("residual", model.residual);
  if (model.knowledge) add_knowledge(writer, *model.knowledge);
  add_header(writer, header);
  writer.close();
}

PldaModel read_plda_model(const std::filesystem::path& path) {
  const NpzReader reader(path);
  const ArtefactHeader header = read_header(reader, kKind, kFormatVersion);
  PldaModel model;
  read_settings(header.details, path.string(), model);
  model.space.center = read_finite(reader, "center", {-1});
  model.space.projection = read_finite(reader, "projection", {model.space.center.size(0), -1});
  const int64_t dims = model.space.projection.size(1);
  model.space.offset = read_finite(reader, "offset", {dims});
  model.space.between = read_variance(reader, "between", dims);
  model.residual = read_variance(reader, "residual", dims);
  if (model.space.leading < 1 || model.space.leading > dims) {
    fail("{}: {} leading dimensions, expected 1 to {}", path.string(), model.space.leading, dims);
  }
  if (reader.has("dual")) model.knowledge = read_knowledge_part(reader, model.knowledge_options, dims);
  return model;
}

}  // namespace protocom
