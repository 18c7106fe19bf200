#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "protocom/answer.h"

namespace protocom {

/// Splits a class's title or name into levels, widest first: "animals", "birds", "robin" for animals/birds/robin,
/// animals|birds|robin, animals;birds;robin or animals > birds > robin. Drops empty levels and the identifier (a UUID)
/// before SpeciesNet's levels.
std::vector<std::string> class_levels(const std::string& title);

/// Returns the levels of a class without a stated group: of its title if that has several, else of its name.
std::vector<std::string> own_levels(const std::string& name, const std::string& title);

/// Returns the levels of a group ("animals/birds", written as in class_levels), and the class below them.
std::vector<std::string> grouped_levels(const std::string& name, const std::string& group);

/// Returns the levels of a class as keywords, widest first: of `group` if one is stated, else of its title or name. The
/// last is the class alone: the first word of a stated title, else its name in words ("Bronzed Cowbird" for
/// animals/birds/Bronzed_Cowbird). Never empty for a class with a name.
std::vector<std::string> keyword_levels(const std::string& name, const std::string& title, const std::string& group);

/// Returns groups with the names of their classes as a recognizer writes them (clean_name).
std::map<std::string, std::string> composed_groups(const std::map<std::string, std::string>& given);

/// Reads RecognizerOptions::groups from a CSV with a column of classes (`class`, `label`, ...) and a column `group` or
/// `taxonomy`; other columns are ignored. A class may have several rows that agree, as in a list of images; an empty
/// cell states nothing. Throws Error with file and line for a missing column, both columns, or rows that disagree.
std::map<std::string, std::string> read_class_groups(const std::filesystem::path& table);

/// Returns the narrowest group that contains class `best` and has at least the probability requested, summed over its
/// classes' `probabilities` [c]: the class itself, or the classes that share its first levels ("animals/birds").
/// `levels` [c]: those of each class. Nothing if even the widest group is less probable.
std::optional<RankedClass> probable_group(const std::vector<std::vector<std::string>>& levels,
                                          const Eigen::VectorXd& probabilities, int64_t best, double least);

}  // namespace protocom
