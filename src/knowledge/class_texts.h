#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/array.h"

namespace protocom {

/// Descriptions of classes in words, for a text encoder.
struct ClassTexts {
  std::vector<std::string> classes;  ///< [c], each once, in the order of the file
  std::vector<std::string> texts;    ///< [n]
  std::vector<int64_t> owner;        ///< [n], class of each text, in [0, c)
};

/// Reads descriptions from a CSV with the columns `class` and `description`; columns whose names begin with
/// "description", and further rows of a class, are further descriptions. Texts are unchanged. Throws Error with the
/// place of a row without any description, or without a class.
ClassTexts read_class_texts(const std::filesystem::path& csv);

/// Reads names of classes, one per line. Throws Error for a file without any, and for a repeated name.
std::vector<std::string> read_class_names(const std::filesystem::path& path);

/// CLIP's prompt for a class with only a name (Radford et al., 2021, section 3.1.4).
inline constexpr const char* kTextTemplate = "a photo of a {}.";

/// Inserts the names in words (title_of_name) into each template, in place of "{}". Throws UsageError for a template
/// without it.
ClassTexts texts_of_names(const std::vector<std::string>& names, const std::vector<std::string>& templates);

/// Returns one class with its descriptions. Throws UsageError for an empty text.
ClassTexts texts_of_class(const std::string& name, const std::vector<std::string>& texts);

/// Returns a class's vector from several texts as CLIP's authors compute it: the mean of their unit vectors, scaled to
/// unit length. `vectors` float32 [n, d] -> [c, d]. Throws Error for a class whose texts' vectors cancel out.
Array class_directions(const ClassTexts& texts, const Array& vectors);

}  // namespace protocom
