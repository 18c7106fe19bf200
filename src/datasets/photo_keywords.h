#pragma once
#include <filesystem>
#include <string_view>
#include <vector>

#include "datasets/image_list.h"
#include "datasets/xmp_keywords.h"

namespace protocom {

/// Returns the keywords of a photo: from its sidecars (IMG_1.jpg.xmp, IMG_1.xmp), from the XMP inside the file and, in
/// a JPEG, from IPTC (IIM 4.2, dataset 2:25). XMP inside is found by the tags of its packet, as XMP's specification
/// (part 3, packet scanning) allows for any format. Throws Error if the photo or XMP cannot be read, and for more than
/// 1,000 keywords in one place or one of more than 1,000 bytes.
XmpKeywords keywords_of(const std::filesystem::path& photo);

/// Returns the existing sidecars of a photo: IMG_1.jpg.xmp, IMG_1.xmp, then those with the suffix in capitals.
std::vector<std::filesystem::path> find_sidecars(const std::filesystem::path& photo);

/// Selects which of a photo's keywords is its class. Hierarchical keywords (Lightroom, digiKam) have precedence over
/// plain ones, which repeat their last or all levels.
struct KeywordChoice {
  std::string parent;  ///< "Animals|Birds": use the level below it; empty: any
  size_t level = 0;    ///< from 1; 0: the last
};

/// Parses "keywords", "keywords:2", "keywords:Animals|Birds". Throws UsageError.
KeywordChoice parse_keyword_choice(std::string_view text);

/// Returns the classes that these keywords name, each once. If there is more than one, the class is undecided.
std::vector<std::string> classes_of(const XmpKeywords& keywords, const KeywordChoice& choice);

/// Lists the photos below a folder whose keywords name exactly one class; others are counted and logged. Throws Error
/// if the folder cannot be listed, or if no photo names exactly one class.
std::vector<ListedImage> list_by_keywords(const std::filesystem::path& folder, const KeywordChoice& choice);

}  // namespace protocom
