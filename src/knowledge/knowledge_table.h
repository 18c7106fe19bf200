#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/array.h"

namespace protocom {

/// Which attributes classes have, and semantic embeddings of both: names and arrays alone. The module `knowledge`
/// makes and stores it, `fewshot` works with it. A row of zeros means that nothing is known of a class.
struct KnowledgeTable {
  std::vector<std::string> classes;     ///< [c], the names that features and images use
  std::vector<std::string> attributes;  ///< [a], wnids or column names
  Array association;                    ///< R, float32 [c, a], in [0, 1]; 0: the class has not the attribute
  Array class_embedding;                ///< h_k, float32 [c, e]
  Array attribute_embedding;            ///< h_a, float32 [a, e]
  /// If h_k is of several concatenated sources (texts, word vectors), the dimensions of each; empty: of
  /// one.
  std::vector<int64_t> embedding_sources = {};

  /// The row of a class, or -1 when the table does not name it.
  [[nodiscard]] int64_t class_index(const std::string& name) const;
  /// The column of an attribute, or -1.
  [[nodiscard]] int64_t attribute_index(const std::string& name) const;
  [[nodiscard]] int64_t embedding_dim() const { return class_embedding.size(1); }
  /// It says nothing of any class: association and class_embedding are undefined.
  [[nodiscard]] bool empty() const { return !association.defined() && !class_embedding.defined(); }
  /// Of these classes alone, by their places, each in [0, c).
  [[nodiscard]] KnowledgeTable rows(const std::vector<int64_t>& which) const;
};

/// A table whose classes and attributes are told by their places alone: association float32 [c, a] in [0, 1] and
/// class_embedding float32 [c, e], either of which may be undefined. Nothing is checked.
KnowledgeTable unnamed_table(Array association, Array class_embedding, std::vector<int64_t> embedding_sources = {});

}  // namespace protocom
