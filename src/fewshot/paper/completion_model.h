#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fewshot/paper/protocomnet.h"
#include "io/artefact.h"

namespace protocom {

/// gamma of equation 8 where it was not learned (the authors' start of joint meta-training).
inline constexpr double kDefaultGamma = 10.0;

/// A trained completion network with the attribute statistics it was trained on: all that completing a prototype needs
/// besides the class's own attributes and embedding.
struct CompletionModel {
  ProtoComNet network;
  std::vector<std::string> attributes;           ///< [a], the attributes that base classes have
  at::Tensor attribute_embedding;                ///< h_a, float32 [a, e]
  at::Tensor attribute_mean;                     ///< mu_a of equation 2, float32 [a, d]
  at::Tensor attribute_std;                      ///< sigma_a of equation 3, float32 [a, d]
  std::vector<std::string> trained_on = {};      ///< names of the base classes; empty when unknown (older files)
  double gamma = kDefaultGamma;                  ///< factor of the cosine in equation 8, learned by joint meta-training
  std::string inductive_method = "mean-fusion";  ///< row (i) to (iii) for an image by itself; chosen on val
};

/// One npz: `network.<parameter>`, `attributes`, `attribute_embedding`, `attribute_mean`, `attribute_std`, header;
/// `details` (hashes of features and knowledge, final loss, validation figures) goes into the header, with
/// `trained_on`, `gamma` and `inductive_method`. Throws Error.
void write_completion_model(const std::filesystem::path& path, const CompletionModel& model,
                            const Provenance& provenance, const nlohmann::json& details);

/// Reads such a file. Throws Error that names a missing or misshaped member.
CompletionModel read_completion_model(const std::filesystem::path& path);

}  // namespace protocom
