#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/feature_set.h"
#include "io/npz.h"

/// The parts of labelled features, as files of others hold them.
namespace protocom::feature_parts {

/// float32 [n, d] that can be computed with; dimensions of size 1 behind d are left out. Throws Error that names the
/// first row that cannot be computed with.
Array checked_features(const Array& raw, const std::string& where);

/// "0", "1", ...
std::vector<std::string> numbered(int64_t count);
/// As class names are compared (clean_name).
std::vector<std::string> clean_names(std::vector<std::string> names);

/// What is known of the classes before their labels are read.
struct LabelContext {
  std::optional<std::vector<std::string>> names;  ///< [c]
  size_t split_classes = 0;                       ///< that the file has a split of; 0: it has none
  std::string where;
};

/// Sets labels and class_names of `set`, which has its features: whole numbers, which number the names from 0 on, or
/// are themselves the classes; or texts, the classes' names. Throws Error.
void take_labels(const NumpyArray& raw, const LabelContext& context, FeatureSet& set);

/// Reads a `.mat` (see read_features) into `set`, all but its split; returns that: a word for each class, nothing if
/// no att_splits.mat lies beside it.
std::optional<std::vector<std::string>> read_mat_features(const std::filesystem::path& path, FeatureSet& set);

/// Throws Error, with what saves it as npz, for a file that Python pickled.
void refuse_pickle(const std::filesystem::path& path);

}  // namespace protocom::feature_parts
