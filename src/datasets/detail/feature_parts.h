#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/feature_set.h"
#include "io/npz.h"

/// The parts of labelled features in files of other programs.
namespace protocom::feature_parts {

/// Returns finite float32 [n, d]; trailing dimensions of size 1 are dropped. Throws Error that names the first row that
/// is not finite.
Array checked_features(const Array& raw, const std::string& where);

/// Returns "0", "1", ...
std::vector<std::string> numbered(int64_t count);
/// Normalises class names for comparison (clean_name).
std::vector<std::string> clean_names(std::vector<std::string> names);

/// What is known about the classes before their labels are read.
struct LabelContext {
  std::optional<std::vector<std::string>> names;  ///< [c]
  size_t split_classes = 0;                       ///< number of classes in the file's split; 0: it has none
  std::string where;
};

/// Sets labels and class_names of `set`, which has its features: whole numbers, which index the names from 0 on or are
/// themselves the classes; or texts, the classes' names. Throws Error.
void take_labels(const NumpyArray& raw, const LabelContext& context, FeatureSet& set);

/// Reads a `.mat` (see read_features) into `set`, except its split; returns that: one word per class, nothing if there
/// is no att_splits.mat beside it.
std::optional<std::vector<std::string>> read_mat_features(const std::filesystem::path& path, FeatureSet& set);

/// Throws Error for a file pickled by Python, with the code that saves it as npz.
void refuse_pickle(const std::filesystem::path& path);

}  // namespace protocom::feature_parts
