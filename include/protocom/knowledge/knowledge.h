#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "protocom/core/artefact.h"

namespace protocom {

/// Primitive knowledge (section 3.2, step 1): which attributes each class has, and semantic embeddings of both.
struct Knowledge {
  std::vector<std::string> classes;           ///< [c], the names that features and images use
  std::vector<std::string> attributes;        ///< [a], wnids or column names
  std::map<std::string, std::string> titles;  ///< class or attribute -> words for people, where known
  at::Tensor association;                     ///< R, float32 [c, a], in [0, 1]; 0: the class has not the attribute
  at::Tensor class_embedding;                 ///< h_k, float32 [c, e]
  at::Tensor attribute_embedding;             ///< h_a, float32 [a, e]
  std::vector<std::string>
      context;  ///< [h], what else the graph embedding knows of a class (hypernyms); empty for word vectors
  at::Tensor context_embedding;  ///< float32 [h, e]; undefined when `context` is empty
  std::string content_hash;      ///< hash_file of the file it was read from
  nlohmann::json details =
      nlohmann::json::object();  ///< how it was made (docs/formats.md): source, relations, embedding, ...

  /// The row of a class, or -1 when the knowledge does not name it.
  [[nodiscard]] int64_t class_index(const std::string& name) const;
  /// The column of an attribute, or -1.
  [[nodiscard]] int64_t attribute_index(const std::string& name) const;
  [[nodiscard]] int64_t embedding_dim() const { return class_embedding.size(1); }
};

/// Throws Error when sizes disagree, names repeat, or a value is NaN or outside its range. No attribute at all is
/// allowed.
void check_knowledge(const Knowledge& knowledge);

/// One npz: classes, attributes, their titles, association, class_embedding, attribute_embedding, context where there
/// is one, header. `details` (what was not found, the embedding's source) goes into the header and comes back as
/// Knowledge::details. Throws Error.
void write_knowledge(const std::filesystem::path& path, const Knowledge& knowledge, const Provenance& provenance,
                     const nlohmann::json& details);

/// Reads and checks such a file. Throws Error.
Knowledge read_knowledge(const std::filesystem::path& path);

}  // namespace protocom
