#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "knowledge/knowledge_table.h"

namespace protocom {

/// The parts of a table that cannot distinguish classes, for its maker to correct.
struct UselessKnowledge {
  std::vector<std::vector<std::string>> equal_classes;  ///< groups of at least two classes with equal rows
  std::vector<std::string> attributes_of_all;           ///< with equal weight above 0 for every class
  std::vector<std::string> attributes_of_none;
  std::vector<std::string> classes_of_none;  ///< without an attribute; not in the groups above
};

/// Compares rows and columns of the association [c, a]. Returns nothing for a table without classes or attributes.
UselessKnowledge find_useless(const KnowledgeTable& knowledge);

/// Returns the number of classes that have each attribute, [a].
std::vector<int64_t> class_counts(const KnowledgeTable& knowledge);

}  // namespace protocom
