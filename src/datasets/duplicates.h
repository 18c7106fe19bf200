#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/split.h"

namespace protocom {

/// The severity of two equal images, worst first. kAcrossSplits is a leak: a test image was trained on. kAcrossClasses
/// is a contradiction of labels. kWithinClass wastes a shot.
enum class DuplicateKind { kAcrossSplits, kAcrossClasses, kWithinClass };
/// Returns display text: "across splits" and so on.
std::string_view to_string(DuplicateKind kind);

/// Images with exactly the same pixels, whatever their format and metadata.
struct DuplicateGroup {
  DuplicateKind kind = DuplicateKind::kWithinClass;
  std::vector<std::string> ids;  ///< at least two, in the dataset's order
};

/// The data of images needed to classify duplicates; the references must outlive it.
struct ImageOwners {
  const std::vector<std::string>& class_names;
  const std::vector<Split>& class_split;
  std::vector<std::string> ids;  ///< [n]
  std::vector<int64_t> labels;   ///< [n], in class_names
};

/// Returns hash_bytes of the pixels [height, width, 3] and their size.
std::string hash_pixels(const uint8_t* rgb, int64_t height, int64_t width);

/// Returns the images with equal hashes, worst kind first; empty hashes ([n], of hash_pixels) are those of unreadable
/// images and equal nothing.
std::vector<DuplicateGroup> find_duplicates(const std::vector<std::string>& hashes, const ImageOwners& owners);

}  // namespace protocom
