#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/split.h"

namespace protocom {

/// How bad it is that two images are the same, the worst first. kAcrossSplits is a leak: a test image was trained on.
/// kAcrossClasses is a contradiction of labels. kWithinClass wastes a shot.
enum class DuplicateKind { kAcrossSplits, kAcrossClasses, kWithinClass };
/// For people: "across splits" and so on.
std::string_view to_string(DuplicateKind kind);

/// Images with exactly the same pixels, whatever their format and metadata.
struct DuplicateGroup {
  DuplicateKind kind = DuplicateKind::kWithinClass;
  std::vector<std::string> ids;  ///< at least two, in the dataset's order
};

/// Images as far as it matters which of them are the same; the references must outlive it.
struct ImageOwners {
  const std::vector<std::string>& class_names;
  const std::vector<Split>& class_split;
  std::vector<std::string> ids;  ///< [n]
  std::vector<int64_t> labels;   ///< [n], in class_names
};

/// hash_bytes of the pixels [height, width, 3] and their size.
std::string hash_pixels(const uint8_t* rgb, int64_t height, int64_t width);

/// The images of equal hashes, the worst kind first; empty hashes ([n], of hash_pixels) are of images that cannot be
/// read and equal nothing.
std::vector<DuplicateGroup> find_duplicates(const std::vector<std::string>& hashes, const ImageOwners& owners);

}  // namespace protocom
