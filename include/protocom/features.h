#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocom/error.h"
#include "protocom/feature_file_options.h"
#include "protocom/rows.h"

namespace protocom::v0 {

/// Data of a FeatureSet besides features and labels.
struct FeatureSetOptions {
  std::vector<std::string> class_names = {};  ///< [c]; empty: the names in the labels, or their numbers
  /// "base", "val" or "novel" (also "train", "validation", "test") for each class, [c]; a single entry applies to all.
  std::vector<std::string> split = {"novel"};
  std::vector<std::string> ids = {};  ///< [n], unique; empty: "0", "1", ...
};

/// Features of labelled images, and the split of their classes, for drawing episodes and fitting methods. Immutable;
/// copies share their memory. May be used from several threads.
class PROTOCOM_API FeatureSet {
 public:
  /// Copies features [n, d] and labels [n]. Throws Error for no rows, values that are NaN or infinite (it names the
  /// first row), labels outside [0, c), numbers of labels, names, splits or ids that do not match, and duplicate names
  /// or ids.
  FeatureSet(const Rows& features, const Labels& labels, const FeatureSetOptions& options = {});
  /// Reads a file of `protocom extract`, any .npz or .safetensors with `features` and `labels`, a .npy pair, or a .mat
  /// of the public attribute benchmarks (docs/formats.md). Throws Error.
  static FeatureSet read(const std::string& path, const FeatureFileOptions& options = {});
  /// Writes an .npz that read() and every command accept. Throws Error.
  void save(const std::string& path) const;

  [[nodiscard]] int64_t rows() const;
  [[nodiscard]] int64_t dim() const;
  /// Features, float32 [rows, dim]; valid as long as any copy of the set.
  [[nodiscard]] const float* features() const;
  /// Labels, [rows], indices into class_names().
  [[nodiscard]] const int64_t* labels() const;
  [[nodiscard]] const std::vector<std::string>& class_names() const;
  /// The split of each class, "base", "val" or "novel", [c].
  [[nodiscard]] std::vector<std::string> split() const;
  [[nodiscard]] const std::vector<std::string>& ids() const;
  /// Warnings from construction: images with equal features.
  [[nodiscard]] const Warnings& warnings() const;

  struct Impl;
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  explicit FeatureSet(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace protocom::v0
