#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/array.h"
#include "fewshot/paper/protocomnet_options.h"
#include "io/artefact.h"

namespace protocom {

/// gamma of equation 8 where it was not learned (the authors' start of joint meta-training).
inline constexpr double kDefaultGamma = 10.0;

/// A trained completion network with the attribute statistics it was trained on: all that completing a prototype needs
/// besides the class's own attributes and embedding. Copies share the arrays; ProtoComNet is the network on tensors.
struct CompletionModel {
  ProtoComNetOptions sizes;
  std::vector<std::pair<std::string, Array>> weights;  ///< float32, with the names and shapes of weight_shapes()
  std::vector<std::string> attributes;                 ///< [a], the attributes that base classes have
  Array attribute_embedding;                           ///< h_a, float32 [a, e]
  Array attribute_mean;                                ///< mu_a of equation 2, float32 [a, d]
  Array attribute_std;                                 ///< sigma_a of equation 3, float32 [a, d]
  std::vector<std::string> trained_on = {};            ///< names of the base classes; empty when unknown (older files)
  double gamma = kDefaultGamma;                  ///< factor of the cosine in equation 8, learned by joint meta-training
  std::string inductive_method = "mean-fusion";  ///< row (i) to (iii) for an image by itself; chosen on val

  /// Throws Error for a name that is not there.
  [[nodiscard]] const Array& weight(const std::string& name) const;
};

/// One npz: `network.<parameter>`, `attributes`, `attribute_embedding`, `attribute_mean`, `attribute_std`, header;
/// `details` (hashes of features and knowledge, final loss, validation figures) goes into the header, with
/// `trained_on`, `gamma` and `inductive_method`. Throws Error.
void write_completion_model(const std::filesystem::path& path, const CompletionModel& model,
                            const Provenance& provenance, const nlohmann::json& details);

/// Reads such a file. Throws Error that names a missing or misshaped member.
CompletionModel read_completion_model(const std::filesystem::path& path);

}  // namespace protocom
