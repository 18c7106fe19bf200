#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "knowledge/attribute_table.h"
#include "knowledge/class_vectors.h"
#include "knowledge/knowledge.h"

namespace protocom {

/// How a source's classes become knowledge.
struct BuildOptions {
  std::optional<ClassSides> sides;            ///< the split; without one every class counts as a base class
  Vocabulary vocabulary = Vocabulary::kBase;  ///< which attributes are kept
  std::optional<std::filesystem::path>
      vectors;                 ///< word vectors; without them the embedding is the graph's own (embed_graph)
  int64_t embedding_dim = 50;  ///< of the graph's embedding; word vectors bring their own
  std::optional<ClassVectors> class_vectors;                 ///< the classes' embeddings, in place of both
  std::filesystem::path class_vectors_file;                  ///< where they are from
  std::vector<std::filesystem::path> further_vectors_files;  ///< of further sources of theirs
};

/// Chooses the classes and the vocabulary and embeds both.
///
/// With word vectors, h of a class or attribute is embed_lemmas of its names. Without, it is its place in the truncated
/// SVD of the class x (attribute | context) matrix: made from all classes, or from the base classes alone with
/// Vocabulary::kBase, the others being placed by the same rule. So a class that is enrolled later (class_description.h)
/// gets the place that it would have got here.
///
/// With class vectors a class has the one of its name, zeros if there is none, and attributes have zeros.
///
/// Knowledge::details says what was made of what and what was missing (docs/formats.md). What deserves attention is
/// also logged as a warning: classes without attributes, attributes of no base class, classes or words that were not
/// found. Throws Error.
Knowledge build_knowledge(const AttributeTable& table, const BuildOptions& options);

/// {"nodes": [classes, attributes], "edges": [[class, attribute], ...]}: every pair whose weight is not 0.
nlohmann::json graph_json(const Knowledge& knowledge);

}  // namespace protocom
