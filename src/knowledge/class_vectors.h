#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/array.h"

namespace protocom {

/// A vector for each class, from any encoder of its name or a description.
struct ClassVectors {
  std::vector<std::string> classes;   ///< [c], each once, in the order of the file
  Array vectors;                      ///< float32 [c, e]
  std::vector<int64_t> sources = {};  ///< with several sources, the number of dimensions of each
};

/// Reads class vectors:
///   npz  `vectors` (or `embeddings`, `text`, `features`) [n, e] and `names` (or `classes`), text [n]; or a knowledge
///        file, whose embeddings of classes are used
///   npy  [n, e]; their names, one per line, in the file `names`
///   csv  a column of names, then a column for each dimension, below a header
/// For several rows of one name (descriptions, templates) the class has the mean of their directions. Throws Error with
/// the place of a value that is missing, not a number or infinite, and of a vector of zeros.
ClassVectors read_class_vectors(const std::filesystem::path& path, const std::filesystem::path& names = {});

/// Returns the concatenated vectors of several sources, of all classes that any of them has; zeros where a source lacks
/// a class, which is logged with its file, one of `files`. Each source is scaled to a median length of 1. A single
/// source is unchanged.
ClassVectors join_class_vectors(const std::vector<ClassVectors>& sources,
                                const std::vector<std::filesystem::path>& files);

}  // namespace protocom
