#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/array.h"
#include "datasets/duplicates.h"
#include "datasets/split.h"
#include "images/preprocessing.h"
#include "io/artefact.h"
#include "protocom/feature_file_options.h"

namespace protocom {

/// Features of labelled images, with the data needed to draw episodes from them.
struct FeatureSet {
  Array features;                        ///< float32 [n, d]
  std::vector<int64_t> labels;           ///< [n], indices into class_names
  std::vector<std::string> class_names;  ///< [c]
  std::vector<Split> class_split;        ///< [c]
  std::vector<std::string> image_ids;    ///< [n]; unique; "0", "1", ... if the file has none
  std::string backbone_hash;             ///< hash of the backbone's file; empty if unknown
  std::string content_hash;              ///< hash_file of the file it was read from; empty if made in memory
  std::vector<DuplicateGroup> copies;    ///< images with equal features; found when read from a file

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(image_ids.size()); }
  [[nodiscard]] int64_t dim() const { return features.size(1); }
  /// Returns the indices of the classes of a split, in order.
  [[nodiscard]] std::vector<int64_t> classes_of(Split split) const;
  /// Returns for each class the rows of its images, in order. Throws Error for a label outside the classes.
  [[nodiscard]] std::vector<std::vector<int64_t>> rows_by_class() const;
};

/// Checks features made in memory as read_features checks a file: of any float type, names and ids numbered if there
/// are none, copies found. `where` names them in messages. Throws Error.
FeatureSet checked_feature_set(FeatureSet set, const std::string& where);

/// Returns the labels in an array: one per feature row, of a whole type, or floats that are whole numbers, as MATLAB
/// and pandas write them. Throws Error that begins with `where`.
std::vector<int64_t> label_numbers(const Array& labels, int64_t images, const std::string& where);

/// Keeps only the features of `classes` (indices, in ascending order); images keep their order. Throws Error for an
/// index that is not a class.
FeatureSet keep_classes(const FeatureSet& features, const std::vector<int64_t>& classes);

/// Reads labelled features from
/// - an `.npz` with `features` [n, d] of any float type, `labels` [n] and, if present, `names` [c], `split` [c] and
///   `paths` [n] (`header.json` if protocom wrote it). Other usual names are known: X, x, feats, embeddings; y, Y,
///   label, target, targets;
/// - a `.safetensors` with tensors `features` and `labels`, the rest as JSON lists in its metadata;
/// - a features `.npy` [n, d] with its labels `.npy` [n]: `options.labels`, else the file beside it whose name has
///   "labels" in place of "features" (x-labels.npy for x.npy);
/// - a `.mat` of the public attribute benchmarks: `features` [d, n], `labels` [n] from 1 on, with the classes' names
///   and split from the att_splits.mat beside it, if there is one.
/// Labels are whole numbers, which index `names` from 0 on or, without names, are classes named by their numbers; or
/// they are the classes' names. Throws Error that names the file and the member: missing member, sizes that differ,
/// label out of range, NaN or infinite features (with the first row), no split known; for a pickle with the lines of
/// Python that save it as npz. Warns of images with equal features.
FeatureSet read_features(const std::filesystem::path& path, const FeatureFileOptions& options = {});

/// Writes the same members, features as float32, and the header, which includes the images' preprocessing if that is
/// known. Throws Error.
void write_features(const std::filesystem::path& path, const FeatureSet& features, const Provenance& provenance,
                    const std::optional<Preprocessing>& preprocessing = {});

}  // namespace protocom
