#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Names of columns and members in lists of images.
namespace protocom::list_words {

/// Normalises a word: "File Name" and "file_name" become "filename"; "labels" becomes "label".
std::string plain_word(std::string_view text);

/// Return the most likely column of images, and of classes, by name.
std::optional<size_t> image_column(const std::vector<std::string>& header);
std::optional<size_t> class_column(const std::vector<std::string>& header);

/// Return the same for members of an object that are texts or numbers; nullptr: it has none.
const nlohmann::json* image_member(const nlohmann::json& object);
const nlohmann::json* class_member(const nlohmann::json& object);

/// Returns a text unchanged, another value as JSON.
std::string text_of(const nlohmann::json& value);

/// COCO's identifier of an image or category, a whole number or, in files of camera traps, a text. Throws Error that
/// names the member for another value.
std::string coco_id(const nlohmann::json& object, const char* member);

}  // namespace protocom::list_words
