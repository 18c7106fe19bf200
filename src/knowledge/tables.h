#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "knowledge/attribute_table.h"
#include "knowledge/knowledge_table.h"

namespace protocom {

/// Reads one edge per line from a CSV with the columns class and attribute (or species, label; trait, feature,
/// property, in any case) and, if there is one, weight (default 1): a number in [0, 1] with a decimal point or comma, a
/// percentage, or x, yes, true, no, false. A column named value, present, score, percent, ... is a weight too, and so
/// is a column that has only weights; numbers from 0 to 100, or -1 and 1, are converted, and the log says how. A class
/// with an empty attribute cell is a class without attributes. Classes and attributes are in the order of their first
/// mention; their lemmas are lemma_of_name. Any other CSV is read as a matrix (read_attribute_matrix), as written by
/// `knowledge template`. Throws Error with file and line: empty class, a repeated pair, a weight that is not a number
/// in [0, 1], an ambiguous scale (0 to 5), no row at all; and with the expected header if no cell below it is a weight.
AttributeTable read_attributes(const std::filesystem::path& path);

/// Reads a CSV whose first column names classes and whose every other column is an attribute; cells are weights as
/// above, an empty one is 0. Throws Error with file and line (and column): a class or attribute named twice or without
/// a name, a cell that is not a weight.
AttributeTable read_attribute_matrix(const std::filesystem::path& path);

/// Returns a CSV that a spreadsheet can fill in and `knowledge matrix` reads: one row per class, one column per
/// attribute, the weights in `known` (may be null) and empty cells else.
std::string matrix_csv(const std::vector<std::string>& classes, const std::vector<std::string>& attributes,
                       const KnowledgeTable* known);

/// How to convert CUB-200-2011's percentages to weights.
struct CubAttributesOptions {
  /// A class has the attributes that at least this percentage of its images show, with weight 1; without a threshold
  /// the weight is the percentage / 100.
  std::optional<double> threshold = 50.0;
};

/// Reads CUB-200-2011 with the layout of its archive: `root` is the folder CUB_200_2011 (or its parent), with
/// classes.txt and attributes/class_attribute_labels_continuous.txt (one line per class, one percentage per attribute),
/// and attributes.txt beside `root`, in it, or in attributes/. Classes are named as their image folders
/// ("001.Black_footed_Albatross"); an attribute's prefix "has_" is dropped from its words. Throws Error with file and
/// line if a file is missing or the counts differ.
AttributeTable read_cub_attributes(const std::filesystem::path& root, const CubAttributesOptions& options = {});

/// The two tables of Animals with Attributes.
enum class Awa2Weights {
  kBinary,      ///< predicate-matrix-binary.txt: weights 0 and 1
  kContinuous,  ///< predicate-matrix-continuous.txt: its numbers from 0 to 100, divided by 100; -1, unknown, becomes 0
};

/// Reads Animals with Attributes 2 with the layout of its archive: `root` contains classes.txt, predicates.txt and the
/// matrix. Classes are named as their image folders ("grizzly+bear"); '+' is a blank in titles and lemmas. Throws Error
/// with file and line if a file is missing or the counts differ.
AttributeTable read_awa2_attributes(const std::filesystem::path& root, Awa2Weights weights = Awa2Weights::kBinary);

}  // namespace protocom
