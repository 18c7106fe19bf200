#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "knowledge/attribute_table.h"
#include "knowledge/knowledge_table.h"

namespace protocom {

/// Reads one edge a line from a CSV with the columns class and attribute (or species, label; trait, feature, property,
/// in any capitals) and, if there is one, weight (1 without): a number in [0, 1] with a decimal point or comma, a
/// percentage, or x, yes, true, no, false. What other programs call value, present, score, percent, ... is a weight
/// too, and so is a column that holds nothing else; numbers from 0 to 100, or -1 and 1, are read as that, and the log
/// says how. A class with an empty attribute cell is a class without attributes. Classes and attributes stand in the
/// order of their first mention; their lemmas are lemma_of_name. Any other CSV is a matrix (read_attribute_matrix), as
/// `knowledge template` writes it. Throws Error with file and line: empty class, a pair named twice, a weight that is
/// no number in [0, 1], numbers that can mean several things (0 to 5), no row at all; and with the expected header
/// if no cell below it is a weight.
AttributeTable read_attributes(const std::filesystem::path& path);

/// Reads a CSV whose first column names classes and whose every other column is an attribute; cells are weights as
/// above, an empty one is 0. Throws Error with file and line (and column): a class or attribute named twice or without
/// a name, a cell that is not a weight.
AttributeTable read_attribute_matrix(const std::filesystem::path& path);

/// A CSV that a spreadsheet can fill in and `knowledge matrix` reads: a row per class, a column per attribute, the
/// weights that `known` has (may be null) and empty cells else.
std::string matrix_csv(const std::vector<std::string>& classes, const std::vector<std::string>& attributes,
                       const KnowledgeTable* known);

/// How CUB-200-2011's percentages become weights.
struct CubAttributesOptions {
  /// A class has the attributes that at least this percentage of its images show, with weight 1; without a threshold
  /// the weight is the percentage / 100.
  std::optional<double> threshold = 50.0;
};

/// Reads CUB-200-2011 as its archive lays it out: `root` is the folder CUB_200_2011 (or the one that holds it), with
/// classes.txt and attributes/class_attribute_labels_continuous.txt (one line per class, one percentage per attribute),
/// and attributes.txt beside `root`, in it, or in attributes/. Classes are named as their image folders are
/// ("001.Black_footed_Albatross"); an attribute's "has_" is not a word of it. Throws Error with file and line when a
/// file is missing or the counts disagree.
AttributeTable read_cub_attributes(const std::filesystem::path& root, const CubAttributesOptions& options = {});

/// Which of the two tables of Animals with Attributes.
enum class Awa2Weights {
  kBinary,      ///< predicate-matrix-binary.txt: weights 0 and 1
  kContinuous,  ///< predicate-matrix-continuous.txt: its numbers from 0 to 100, / 100; -1, not known, is 0
};

/// Reads Animals with Attributes 2 as its archive lays it out: `root` holds classes.txt, predicates.txt and the matrix.
/// Classes are named as their image folders are ("grizzly+bear"); '+' is a blank in titles and lemmas. Throws Error
/// with file and line when a file is missing or the counts disagree.
AttributeTable read_awa2_attributes(const std::filesystem::path& root, Awa2Weights weights = Awa2Weights::kBinary);

}  // namespace protocom
