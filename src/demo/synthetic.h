#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "datasets/split.h"
#include "images/image.h"

namespace protocom {

/// Size and difficulty of a synthetic data set.
struct SyntheticOptions {
  uint64_t seed = 1;
  int64_t image_size = 64;  ///< pixels a side, 16..4096
  int64_t images_per_class = 80;
  int64_t base_classes = 60;
  int64_t val_classes = 12;
  int64_t novel_classes = 20;
  double part_visibility =
      0.65;  ///< probability that an image shows a part its class has, each part on its own; (0, 1]
};

/// A class: a name and its parts.
struct SyntheticClass {
  std::string name;  ///< "horned-wug"
  Split split = Split::kBase;
  std::vector<std::string> attributes;  ///< 6 to 9 of SyntheticWorld::attribute_names()
};

/// One image and the attributes that it shows.
struct SyntheticImage {
  Image image;                     ///< [image_size, image_size, 3]
  std::vector<std::string> shown;  ///< attributes of the class that were drawn; clutter or the border may hide some
};

/// The data set that protocom generates itself: creatures composed of parts.
///
/// A class is a set of parts (always a kind of body, then ears, horns, wings, tails, legs, coats, ...) with typical
/// proportions and colours. An image shows the class in a random pose before a random background, partly hidden, and
/// *without* every part that a draw with probability 1 - part_visibility leaves out (never the body). So single images
/// are incomplete, as section 1 of the paper describes, and the mean of many images is far less so. The parts of val
/// and novel classes all occur in base classes, in new combinations.
///
/// Everything follows from the seed: the same options give the same bytes on the same machine, whatever the order or
/// the threads of drawing. The classes do not depend on image_size, images_per_class or part_visibility.
class SyntheticWorld {
 public:
  /// Throws UsageError for invalid sizes (fewer than 8 base classes, a visibility outside (0, 1], ...).
  explicit SyntheticWorld(const SyntheticOptions& options);
  ~SyntheticWorld();
  SyntheticWorld(SyntheticWorld&&) noexcept;

  /// Returns base, then val, then novel classes.
  [[nodiscard]] const std::vector<SyntheticClass>& classes() const;
  [[nodiscard]] const SyntheticOptions& options() const;
  /// Returns all attributes, in a fixed order.
  [[nodiscard]] static std::vector<std::string> attribute_names();
  /// Returns whether an attribute is shown in all images of its classes: those named "...-body".
  [[nodiscard]] static bool is_always_shown(const std::string& attribute);

  /// Draws image number `image` (any number >= 0) of a class. Thread-safe. Throws Error for an unknown class.
  [[nodiscard]] SyntheticImage draw(int64_t class_index, int64_t image) const;
  /// Draws the class as in a field guide: upright, complete, nothing in front, `size` pixels a side.
  [[nodiscard]] Image plate(int64_t class_index, int64_t size) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Contents of a contact sheet.
struct SyntheticSheetOptions {
  Split split = Split::kNovel;
  int64_t max_classes = 12;      ///< rows
  int64_t images_per_class = 9;  ///< beside the complete creature, which comes first
  int64_t cell_size = 96;        ///< pixels
};

/// Returns a sheet with one row per class: its name, the complete creature, then images from `draw` (at cell_size).
Image synthetic_sheet(const SyntheticWorld& world, const SyntheticSheetOptions& options);

/// Writes the world as an image folder: `<class>/<number>.jpg`, `split.csv` (class,split) and `attributes.csv`
/// (class,attribute). It is written beside `folder` and renamed at the end: after a failure nothing is left. Uses the
/// threads of core's set_threads. Throws Error when `folder` exists and is not empty.
void write_synthetic(const std::filesystem::path& folder, const SyntheticWorld& world, Progress& progress);

}  // namespace protocom
