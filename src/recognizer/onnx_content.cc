#include "recognizer/detail/onnx_content.h"

#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "encoders/encoder_as_onnx.h"
#include "encoders/known_encoders.h"
#include "encoders/onnx_file_kind.h"
#include "io/artefact.h"
#include "io/files.h"
#include "io/json.h"
#include "io/scratch_folder.h"
#include "recognizer/detail/encoder_graph.h"
#include "recognizer/detail/formula_graph.h"
#include "recognizer/recognizer.h"
#include "store/recognizer_id.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;
using onnx::GraphWriter;
using onnx::ValueType;

/// Returns "probabilities [n, 5]".
std::string described(const std::string& name, const std::vector<int64_t>& sizes) {
  std::vector<std::string> texts;
  for (const int64_t size : sizes) texts.push_back(size < 0 ? "n" : std::to_string(size));
  return fmt::format("{} [{}]", name, fmt::join(texts, ", "));
}

/// Names the outputs of a file and lists them.
class Outputs {
 public:
  Outputs(GraphWriter& graph, int64_t images) : graph_(graph), images_(images) {}

  /// `width` 0: one number per image.
  void add(const std::string& value, const std::string& name, int64_t width, ValueType type = ValueType::kFloat32) {
    std::vector<int64_t> sizes = {images_};
    if (width > 0) sizes.push_back(width);
    const std::string shaped = width > 0 ? value : graph_.node("Reshape", {value, graph_.integers({-1})});
    graph_.name_output(shaped, name, type, sizes);
    list_.push_back(described(name, sizes));
  }
  [[nodiscard]] std::string list() const { return fmt::format("{}", fmt::join(list_, ", ")); }

 private:
  GraphWriter& graph_;
  int64_t images_;
  std::vector<std::string> list_;
};

onnx::Weights weights_of(const OnnxExportOptions& options) {
  if (options.int8) return onnx::Weights::kInt8;
  return options.half ? onnx::Weights::kFloat16 : onnx::Weights::kFloat32;
}

const char* word_for(onnx::Weights weights) {
  switch (weights) {
    case onnx::Weights::kInt8:
      return "int8";
    case onnx::Weights::kFloat16:
      return "float16";
    case onnx::Weights::kFloat32:
      break;
  }
  return "float32";
}

/// Converts an encoder of another format to an ONNX file.
fs::path as_onnx(const fs::path& path, const RecognizerFile& file, const fs::path& folder) {
  EncoderFileOptions stated;
  stated.preprocessing = file.settings().preprocessing;
  try {
    return encoder_as_onnx(path, stated, folder);
  } catch (const Error& error) {
    fail("{}, or leave the encoder out (--features)", error.what());
  }
}

/// Returns a graph up to the encoder's feature.
EncoderGraph begun(const Recognizer& recognizer, const OnnxExportOptions& options,
                   const std::shared_ptr<onnx::TensorStore>& tensors) {
  const RecognizerFile& file = recognizer.file();
  const RecognizerSettings& settings = file.settings();
  const onnx::Weights weights = weights_of(options);
  if (options.features) {
    EncoderGraph made{GraphWriter(weights, tensors), "features", ValueType::kFloat32, {-1, settings.feature_dim}, {}};
    made.graph.input("features", made.type, made.sizes);
    return made;
  }
  std::optional<EncoderGraph> made;
  file.read_artefact("backbone", [&](const fs::path& path) {
    ExportedImages images{settings.preprocessing, options.uint8, settings.feature_dim, weights, tensors};
    const ScratchFolder scratch;
    const fs::path graph = is_onnx_file(path) ? path : as_onnx(path, file, scratch.path());
    if (graph != path) images.preprocessing.mean = images.preprocessing.std = {};  // the network normalises
    made.emplace(encoder_graph(graph, images));
  });
  return *std::move(made);
}

/// Adds the operators and outputs after the encoder's feature; returns the list of outputs.
std::string finish(Recognizer& recognizer, const OnnxExportOptions& options, EncoderGraph& begun) {
  const AnswerFormula formula = recognizer.formula();
  const std::optional<Calibration>& calibration = recognizer.calibration();
  GraphWriter& graph = begun.graph;
  const FormulaValues values = add_formula(formula, begun.feature, graph);
  const double factor = calibration ? calibration->factor : 1;
  const std::string logits = factor == 1 ? values.logits : graph.node("Mul", {values.logits, graph.number(factor)});
  std::string shares = graph.node("Softmax", {logits}, {{"axis", int64_t{1}}});
  Outputs outputs(graph, begun.sizes[0]);
  std::string none;
  if (calibration && (calibration->method == recognizer.method().label() || formula.familiarity)) {
    const std::string above = graph.node("Sub", {graph.number(calibration->threshold), values.familiarity});
    none = graph.node("Sigmoid", {graph.node("Mul", {above, graph.number(calibration->slope)})});
    shares = graph.node("Mul", {shares, graph.node("Sub", {graph.number(1), none})});
  }
  outputs.add(shares, "probabilities", formula.rows.rows());
  if (!none.empty()) outputs.add(none, "none_of_these", 0);
  outputs.add(values.familiarity, "familiarity", 0);
  outputs.add(graph.node("ArgMax", {values.logits}, {{"axis", int64_t{1}}}), "label", 0, ValueType::kInt64);
  if (options.with_feature) outputs.add(begun.feature, "feature", recognizer.file().settings().feature_dim);
  return outputs.list();
}

/// Returns the licence of an encoder, from its own file or the list of known encoders; empty: unknown.
std::string find_licence(const fs::path& path, const std::map<std::string, std::string>& metadata) {
  for (const char* key : {"license", "licence"}) {
    if (const auto found = metadata.find(key); found != metadata.end()) return found->second;
  }
  for (const KnownEncoder& known : known_encoders()) {
    if (known.name == path.stem().string()) return known.license;
  }
  return "";
}

/// Describes how a photo is prepared for the input, and what the file does itself.
void describe_images(const RecognizerSettings& settings, const OnnxExportOptions& options,
                     std::map<std::string, std::string>& to) {
  const Preprocessing& images = settings.preprocessing;
  json outside = to_json(images);
  outside["resampling"] = to_string(images.resampling);  // stated even if usual: other programs have other defaults
  outside["squeeze"] = images.squeeze;
  if (options.features) {
    to["preprocessing"] = json_text(outside);  // for the program that computes the features
    return;
  }
  to["normalisation"] = json_text({{"inside", true}, {"mean", images.mean}, {"std", images.std}});
  outside.erase("mean");
  outside.erase("std");
  to["preprocessing.json"] = json_text(outside);
}

std::map<std::string, std::string> metadata_of(Recognizer& recognizer, const OnnxExportOptions& options,
                                               const EncoderGraph& graph) {
  const RecognizerFile& file = recognizer.file();
  const RecognizerArtefact* encoder = file.artefact("backbone");
  std::map<std::string, std::string> made;
  made[kClassesKey] = json_text(recognizer.class_names());
  made["titles"] = json_text(recognizer.class_titles());
  made["weights"] = word_for(weights_of(options));
  made["method"] = recognizer.method().label();
  made["made_by"] = fmt::format("protocom {}", program_version());
  made["calibration"] = recognizer.calibration() ? json_text(to_json(*recognizer.calibration())) : "null";
  made[kRecognizerKey] = json_text({{"id", recognizer_id(file)},
                                    {"file", file.path().filename().string()},
                                    {"hash", hash_file(file.path())},
                                    {"revision", file.revision()}});
  made["encoder"] = json_text({{"file", encoder->path.filename().string()}, {"hash", encoder->hash}});
  if (const std::string licence = find_licence(encoder->path, graph.metadata); !licence.empty())
    made["encoder_license"] = licence;
  describe_images(file.settings(), options, made);
  return made;
}

}  // namespace

void check_onnx_options(const OnnxExportOptions& options) {
  if (options.features && (options.uint8 || options.with_feature))
    fail_usage(
        "a file without the encoder (features) has neither images nor features: leave out uint8 and with_feature");
  if (options.int8 && (options.features || options.half))
    fail_usage("int8 cannot be combined with features (no encoder) or half");
}

OnnxContent onnx_content(Recognizer& recognizer, const OnnxExportOptions& options,
                         const std::shared_ptr<onnx::TensorStore>& tensors) {
  check_onnx_options(options);
  OnnxContent made;
  made.classes = recognizer.class_names();
  EncoderGraph graph = begun(recognizer, options, tensors);
  made.outputs = finish(recognizer, options, graph);
  made.input = described(options.features ? "features float32"
                         : options.uint8  ? "image uint8"
                                          : "image float32",
                         graph.sizes);
  made.at_once = graph.sizes[0];
  std::map<std::string, std::string> metadata = metadata_of(recognizer, options, graph);
  if (!tensors->location().empty()) metadata[kDataKey] = tensors->location();
  made.bytes = graph.graph.model(metadata);
  return made;
}

}  // namespace protocom
