#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What columns and members of lists of images are called.
namespace protocom::list_words {

/// "File Name" and "file_name" are "filename"; "labels" is "label".
std::string plain_word(std::string_view text);

/// The likeliest column of images, and of classes, by its name.
std::optional<size_t> image_column(const std::vector<std::string>& header);
std::optional<size_t> class_column(const std::vector<std::string>& header);

/// The same of an object's members that are texts or numbers; nullptr: it has none.
const nlohmann::json* image_member(const nlohmann::json& object);
const nlohmann::json* class_member(const nlohmann::json& object);

/// A text as it is, another value as JSON writes it.
std::string text_of(const nlohmann::json& value);

/// COCO's identifier of an image or category, a whole number or, in files of camera traps, a text. Throws Error that
/// names the member for another value.
std::string coco_id(const nlohmann::json& object, const char* member);

}  // namespace protocom::list_words
