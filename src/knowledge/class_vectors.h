#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/array.h"

namespace protocom {

/// A vector for each class, made by any encoder: of its name, of a description.
struct ClassVectors {
  std::vector<std::string> classes;   ///< [c], each once, in the order of the file
  Array vectors;                      ///< float32 [c, e]
  std::vector<int64_t> sources = {};  ///< with several sources, the dimensions of each
};

/// Reads them:
///   npz  `vectors` (or `embeddings`, `text`, `features`) [n, e] and `names` (or `classes`), text [n]; or a knowledge
///        file, whose embeddings of classes are taken
///   npy  [n, e]; their names, a line each, in the file `names`
///   csv  a column of names, then a column for each number, below a header
/// Of several rows of one name (descriptions, templates) the class has the mean of their directions. Throws Error with
/// the place of what is missing, no number, infinite or all zeros.
ClassVectors read_class_vectors(const std::filesystem::path& path, const std::filesystem::path& names = {});

/// The concatenated vectors of several sources, of all classes that one of them has; zeros where a source has
/// none for a class, which is logged with its file, one of `files`. Each source is brought to a median length of 1. One
/// source stays as it is.
ClassVectors join_class_vectors(const std::vector<ClassVectors>& sources,
                                const std::vector<std::filesystem::path>& files);

}  // namespace protocom
