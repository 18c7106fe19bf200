#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/array.h"

namespace protocom {

/// The attributes of classes, and semantic embeddings of both: only names and arrays. The module `knowledge` makes and
/// stores it, `fewshot` uses it. A row of zeros means that nothing is known of a class.
struct KnowledgeTable {
  std::vector<std::string> classes;     ///< [c], the names that features and images use
  std::vector<std::string> attributes;  ///< [a], wnids or column names
  Array association;                    ///< R, float32 [c, a], in [0, 1]; 0: the class does not have the attribute
  Array class_embedding;                ///< h_k, float32 [c, e]
  Array attribute_embedding;            ///< h_a, float32 [a, e]
  /// The number of dimensions of each source, if h_k concatenates several (texts, word vectors); empty: there is one
  /// source.
  std::vector<int64_t> embedding_sources = {};

  /// Returns the row of a class, or -1 if the table does not name it.
  [[nodiscard]] int64_t class_index(const std::string& name) const;
  /// Returns the column of an attribute, or -1.
  [[nodiscard]] int64_t attribute_index(const std::string& name) const;
  [[nodiscard]] int64_t embedding_dim() const { return class_embedding.size(1); }
  /// Whether it has no knowledge of classes: association and class_embedding are undefined.
  [[nodiscard]] bool empty() const { return !association.defined() && !class_embedding.defined(); }
  /// Returns the table for only these classes, by index, each in [0, c).
  [[nodiscard]] KnowledgeTable rows(const std::vector<int64_t>& which) const;
};

/// Makes a table whose classes and attributes are identified only by index: association float32 [c, a] in [0, 1] and
/// class_embedding float32 [c, e], either of which may be undefined. Nothing is checked.
KnowledgeTable unnamed_table(Array association, Array class_embedding, std::vector<int64_t> embedding_sources = {});

}  // namespace protocom
