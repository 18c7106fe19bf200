#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.h"

namespace protocom {

/// The data of a source about classes, before a vocabulary is chosen and anything is embedded.
struct AttributeTable {
  std::vector<std::string> classes;     ///< [c]
  std::vector<std::string> attributes;  ///< [a]
  Array association;                    ///< R, float32 [c, a], in [0, 1]
  std::vector<std::string> context;     ///< [h], hypernyms: help to embed a class but are no attributes
  Array context_association;            ///< float32 [c, h]; undefined if `context` is empty
  /// Class or attribute -> its names in words, '_' for a space.
  std::map<std::string, std::vector<std::string>> lemmas;
  std::map<std::string, std::string> titles;         ///< class or attribute -> display name
  nlohmann::json source = nlohmann::json::object();  ///< "kind" and the source's own facts, for the header
};

/// Which attributes are kept (docs/formats.md, "Vocabulary").
enum class Vocabulary {
  kBase,    ///< attributes of a base class: all that a system can know before it meets novel classes
  kShared,  ///< attributes of a base class and of a val or novel class: the published filter, which uses the test
            ///< classes
  kAll,     ///< all attributes, even those whose features no base image can show
};

/// Returns "base", "shared" or "all".
std::string_view to_string(Vocabulary vocabulary);
/// Parses these words; throws UsageError for anything else.
Vocabulary parse_vocabulary(std::string_view text);

/// The two sides of a split for knowledge: classes for training, and classes met later (val and novel).
struct ClassSides {
  std::vector<std::string> base;
  std::vector<std::string> unseen;
};

/// Returns the rows of the split's classes, ascending by name, and the columns of the vocabulary in the source's order.
/// A class that the source does not name gets a zero row. Adds to `source`: "classes_without_source" (only in the
/// split) and "classes_not_in_split" (left out). Throws Error if the source names no class of the split, or a class is
/// on both sides.
AttributeTable select_classes(const AttributeTable& table, const ClassSides& sides, Vocabulary vocabulary);

/// Returns the columns of `attributes` for a class met later: its row of R over a given vocabulary; adds to `unknown`,
/// if given, the attributes that the vocabulary lacks. float32 [vocabulary.size()].
Array restrict_to(const std::vector<std::string>& attributes, const std::vector<std::string>& vocabulary,
                  std::vector<std::string>* unknown = nullptr);

}  // namespace protocom
