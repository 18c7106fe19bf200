#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/array.h"
#include "io/artefact.h"
#include "knowledge/knowledge_table.h"

namespace protocom {

/// Primitive knowledge (section 3.2, step 1): the attributes of each class, and semantic embeddings of both.
struct Knowledge : KnowledgeTable {
  std::map<std::string, std::string> titles;  ///< class or attribute -> display name, if known
  std::vector<std::string> context;  ///< [h], further nodes of the graph embedding (hypernyms); empty for word vectors
  Array context_embedding;           ///< float32 [h, e]; undefined if `context` is empty
  std::string content_hash;          ///< hash_file of the file it was read from
  nlohmann::json details =
      nlohmann::json::object();  ///< how it was made (docs/formats.md): source, relations, embedding, ...
};

/// Throws Error if sizes differ, names repeat, or a value is NaN or outside its range. Knowledge without attributes is
/// allowed, also without classes: descriptions of classes come later (knowledge_of_names).
void check_knowledge(const Knowledge& knowledge);

/// Returns the common name of a class or an attribute, the first of several words ("n01503061" -> "bird"): WordNet's
/// names are numbers. Its name if no title is known.
std::string short_title(const Knowledge& knowledge, const std::string& name);

/// Writes one npz: classes, attributes, their titles, association, class_embedding, attribute_embedding, context if
/// there is one, header. `details` (what was not found, the embedding's source) goes into the header and is read as
/// Knowledge::details. Throws Error.
void write_knowledge(const std::filesystem::path& path, const Knowledge& knowledge, const Provenance& provenance,
                     const nlohmann::json& details);

/// Reads and checks such a file. Throws Error.
Knowledge read_knowledge(const std::filesystem::path& path);

}  // namespace protocom
