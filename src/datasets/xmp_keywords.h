#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace protocom {

/// Keywords of an image in XMP (https://developer.adobe.com/xmp/docs/xmp-namespaces/).
struct XmpKeywords {
  std::vector<std::string> plain = {};         ///< dc:subject
  std::vector<std::string> hierarchical = {};  ///< lr:hierarchicalSubject, "animals|birds|robin"
  std::optional<double> probability = {};      ///< protocom:Probability, of the answer that they state; only written
};

/// Reads the keywords of a sidecar or of the packet inside a photo, each once. Throws Error, which names `path`, for
/// invalid XML and for entities.
XmpKeywords keywords_in(const std::string& xmp, const std::filesystem::path& path);

/// Returns a sidecar with the keywords added that it does not have yet, and its probability replaced; `sidecar`: its
/// bytes, or empty for a new one. All its other bytes stay as they are. Throws Error, which names `path`, for text that
/// is not XMP, and for entities.
std::string with_keywords(const std::string& sidecar, const XmpKeywords& keywords, const std::filesystem::path& path);

}  // namespace protocom
