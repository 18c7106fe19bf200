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

/// The size of a synthetic data set and how hard it is.
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

/// A class: a name and the parts it is composed of.
struct SyntheticClass {
  std::string name;  ///< "horned-wug"
  Split split = Split::kBase;
  std::vector<std::string> attributes;  ///< 6 to 9 of SyntheticWorld::attribute_names()
};

/// One image and what it shows.
struct SyntheticImage {
  Image image;  ///< [image_size, image_size, 3]
  std::vector<std::string>
      shown;  ///< the class's attributes that were drawn (clutter or the border may still hide some of them)
};

/// The data set that protocom makes itself: creatures composed of parts.
///
/// A class is a set of parts (a kind of body always, then ears, horns, wings, tails, legs, coats, ...) with proportions
/// and colours that are typical of it. An image shows the class in a random pose before a random background, partly
/// hidden, and *without* every part that a draw with probability 1 - part_visibility leaves out (never the body). So
/// single images are incomplete, as section 1 of the paper describes, and the mean of many images is far less so. The
/// parts of val and novel classes all occur in base classes, in new combinations.
///
/// Everything follows from the seed: the same options give the same bytes on the same machine, whatever the order or
/// the threads that draw. The classes do not depend on image_size, images_per_class or part_visibility.
class SyntheticWorld {
 public:
  /// Throws UsageError for a size that cannot be (fewer than 8 base classes, a visibility outside (0, 1], ...).
  explicit SyntheticWorld(const SyntheticOptions& options);
  ~SyntheticWorld();
  SyntheticWorld(SyntheticWorld&&) noexcept;

  /// Base, then val, then novel classes.
  [[nodiscard]] const std::vector<SyntheticClass>& classes() const;
  [[nodiscard]] const SyntheticOptions& options() const;
  /// All the attributes there are, in a fixed order.
  [[nodiscard]] static std::vector<std::string> attribute_names();
  /// The part every creature shows in all its images, among the attributes: those named "...-body".
  [[nodiscard]] static bool is_always_shown(const std::string& attribute);

  /// Image number `image` (any number >= 0) of a class. Thread-safe. Throws Error when there is no such class.
  [[nodiscard]] SyntheticImage draw(int64_t class_index, int64_t image) const;
  /// The class as a field guide shows it: upright, complete, nothing in front, `size` pixels a side.
  [[nodiscard]] Image plate(int64_t class_index, int64_t size) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What a contact sheet shows.
struct SyntheticSheetOptions {
  Split split = Split::kNovel;
  int64_t max_classes = 12;      ///< rows
  int64_t images_per_class = 9;  ///< beside the complete creature, which comes first
  int64_t cell_size = 96;        ///< pixels
};

/// A sheet with a row per class: its name, the complete creature, then images as `draw` gives them (drawn at
/// cell_size).
Image synthetic_sheet(const SyntheticWorld& world, const SyntheticSheetOptions& options);

/// Writes the world as an image folder: `<class>/<number>.jpg`, `split.csv` (class,split) and `attributes.csv`
/// (class,attribute). It is written beside `folder` and renamed at the end: after a failure nothing is left. Draws on
/// the threads of core's set_threads. Throws Error when `folder` exists and is not empty.
void write_synthetic(const std::filesystem::path& folder, const SyntheticWorld& world, Progress& progress);

}  // namespace protocom
