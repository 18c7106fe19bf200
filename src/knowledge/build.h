#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "knowledge/attribute_table.h"
#include "knowledge/class_vectors.h"
#include "knowledge/knowledge.h"

namespace protocom {

/// Options for building knowledge from a source.
struct BuildOptions {
  std::optional<ClassSides> sides;               ///< the split; without one, all classes count as base classes
  Vocabulary vocabulary = Vocabulary::kBase;     ///< which attributes are kept
  std::optional<std::filesystem::path> vectors;  ///< word vectors; without them: embed_graph
  int64_t embedding_dim = 50;                    ///< of the graph's embedding; word vectors have their own
  std::optional<ClassVectors> class_vectors;     ///< the classes' embeddings, instead of both
  std::filesystem::path class_vectors_file;      ///< their file
  std::vector<std::filesystem::path> further_vectors_files;  ///< files of further sources
};

/// Chooses the classes and the vocabulary and embeds both.
///
/// With word vectors, h of a class or attribute is embed_lemmas of its names. Without, it is its place in the truncated
/// SVD of the class x (attribute | context) matrix: computed from all classes, or from the base classes alone with
/// Vocabulary::kBase, in which case the others are placed by the same rule. So a class that is enrolled later
/// (class_description.h) gets the place that it would have had here.
///
/// With class vectors a class has the vector of its name, zeros if there is none, and attributes have zeros.
///
/// Knowledge::details records how everything was made and what was missing (docs/formats.md). Classes without
/// attributes, attributes of no base class, and classes or words that were not found are also logged as warnings.
/// Throws Error.
Knowledge build_knowledge(const AttributeTable& table, const BuildOptions& options);

/// Returns {"nodes": [classes, attributes], "edges": [[class, attribute], ...]}: every pair with a nonzero weight.
nlohmann::json graph_json(const Knowledge& knowledge);

}  // namespace protocom
