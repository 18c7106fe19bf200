#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <vector>

namespace protocom {

/// A vector for each class, made by any encoder: of its name, of a description.
struct ClassVectors {
  std::vector<std::string> classes;  ///< [c], each once, in the order of the file
  at::Tensor vectors;                ///< float32 [c, e]
};

/// Reads them:
///   npz  `vectors` (or `embeddings`, `text`, `features`) [n, e] and `names` (or `classes`), text [n]; or a knowledge
///        file, whose embeddings of classes are taken
///   npy  [n, e]; their names, a line each, in the file `names`
///   csv  a column of names, then a column for each number, below a header
/// Of several rows of one name (descriptions, templates) the class has the mean of their directions. Throws Error with
/// the place of what is missing, no number, infinite or all zeros.
ClassVectors read_class_vectors(const std::filesystem::path& path, const std::filesystem::path& names = {});

}  // namespace protocom
