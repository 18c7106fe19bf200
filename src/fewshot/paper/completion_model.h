#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/array.h"
#include "fewshot/paper/protocomnet_options.h"
#include "io/artefact.h"

namespace protocom {

/// gamma of equation 8 if it was not learned (the authors' initial value in joint meta-training).
inline constexpr double kDefaultGamma = 10.0;

/// A trained completion network with the attribute statistics it was trained on: everything needed to complete a
/// prototype besides the class's own attributes and embedding. Copies share the arrays; ProtoComNet is the network on
/// tensors.
struct CompletionModel {
  ProtoComNetOptions sizes;
  std::vector<std::pair<std::string, Array>> weights;  ///< float32, with the names and shapes of weight_shapes()
  std::vector<std::string> attributes;                 ///< [a], the attributes that base classes have
  Array attribute_embedding;                           ///< h_a, float32 [a, e]
  Array attribute_mean;                                ///< mu_a of equation 2, float32 [a, d]
  Array attribute_std;                                 ///< sigma_a of equation 3, float32 [a, d]
  std::vector<std::string> trained_on = {};            ///< names of the base classes; empty when unknown (older files)
  double gamma = kDefaultGamma;                  ///< factor of the cosine in equation 8, learned by joint meta-training
  std::string inductive_method = "mean-fusion";  ///< row (i) to (iii), for classifying single images; chosen on val

  /// Returns a weight. Throws Error for an unknown name.
  [[nodiscard]] const Array& weight(const std::string& name) const;
};

/// Writes one npz: `network.<parameter>`, `attributes`, `attribute_embedding`, `attribute_mean`, `attribute_std`,
/// header; `details` (hashes of features and knowledge, final loss, validation figures) goes into the header, with
/// `trained_on`, `gamma` and `inductive_method`. Throws Error.
void write_completion_model(const std::filesystem::path& path, const CompletionModel& model,
                            const Provenance& provenance, const nlohmann::json& details);

/// Reads such a file. Throws Error that names a member that is missing or has the wrong shape.
CompletionModel read_completion_model(const std::filesystem::path& path);

}  // namespace protocom
