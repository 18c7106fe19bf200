#include "datasets/detail/list_words.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/json_text.h"
#include "base/text.h"

namespace protocom::list_words {
namespace {

using nlohmann::json;

// Most likely first: among several columns with such names, the one with the earliest word is used.
constexpr std::string_view kImageWords[] = {
    "image", "filename", "file",    "imagepath", "filepath", "imagename", "imagefile", "relativepath",
    "path",  "photo",    "picture", "img",       "imgpath",  "imgname",   "imageid",   "id"};
constexpr std::string_view kClassWords[] = {"class", "label",    "classname", "labelname",    "species",
                                            "breed", "choice",   "category",  "categoryname", "target",
                                            "tag",   "identity", "id"};

template <size_t N>
std::optional<size_t> column_of(const std::vector<std::string>& header, const std::string_view (&words)[N]) {
  for (const std::string_view word : words) {
    for (size_t c = 0; c < header.size(); ++c) {
      if (plain_word(header[c]) == word) return c;
    }
  }
  return std::nullopt;
}

/// Returns the member of an object whose name is the earliest of some words.
template <size_t N>
const json* member_called(const json& object, const std::string_view (&words)[N]) {
  for (const std::string_view word : words) {
    for (const auto& [key, value] : object.items()) {
      if (plain_word(key) == word && (value.is_string() || value.is_number())) return &value;
    }
  }
  return nullptr;
}

}  // namespace

std::string plain_word(std::string_view text) {
  std::string word = lowercase(text);
  word.erase(std::remove_if(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) == 0; }),
             word.end());
  for (const char* plural : {"images", "labels", "files", "filenames", "filepaths", "paths", "classes"}) {
    if (word == plural) return word == "classes" ? "class" : word.substr(0, word.size() - 1);
  }
  return word;
}

std::optional<size_t> image_column(const std::vector<std::string>& header) { return column_of(header, kImageWords); }

std::optional<size_t> class_column(const std::vector<std::string>& header) { return column_of(header, kClassWords); }

const json* image_member(const json& object) { return member_called(object, kImageWords); }

const json* class_member(const json& object) { return member_called(object, kClassWords); }

std::string coco_id(const json& object, const char* member) {
  const json& id = object.at(member);
  if (!id.is_string() && !id.is_number_integer())
    fail("{}: expected a whole number or a text, found {}", member, excerpt(json_text(id)));
  return text_of(id);
}

std::string text_of(const json& value) { return value.is_string() ? value.get<std::string>() : json_text(value); }

}  // namespace protocom::list_words
