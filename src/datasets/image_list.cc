#include "datasets/image_list.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_map>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/files.h"
#include "io/json.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

// The likeliest first: of several columns with such names the first of these words is meant.
constexpr std::string_view kImageWords[] = {"image",     "filename",  "file",    "imagepath", "filepath",
                                            "imagename", "imagefile", "path",    "photo",     "picture",
                                            "img",       "imgpath",   "imgname", "imageid",   "id"};
constexpr std::string_view kClassWords[] = {"class", "label",    "classname", "labelname",    "species",
                                            "breed", "choice",   "category",  "categoryname", "target",
                                            "tag",   "identity", "id"};

/// "File Name" and "file_name" are "filename"; "labels" is "label".
std::string plain_word(std::string_view text) {
  std::string word = lowercase(text);
  word.erase(std::remove_if(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) == 0; }),
             word.end());
  for (const char* plural : {"images", "labels", "files", "filenames", "filepaths", "paths", "classes"}) {
    if (word == plural) return word == "classes" ? "class" : word.substr(0, word.size() - 1);
  }
  return word;
}

template <size_t N>
std::optional<size_t> column_of(const std::vector<std::string>& header, const std::string_view (&words)[N]) {
  for (const std::string_view word : words) {
    for (size_t c = 0; c < header.size(); ++c) {
      if (plain_word(header[c]) == word) return c;
    }
  }
  return std::nullopt;
}

struct ListColumns {
  size_t image, name;
};

/// Nothing for other tables, and for what `classify --format csv` answered, which nobody has looked at.
std::optional<ListColumns> list_columns(const std::vector<std::string>& header) {
  const auto image = column_of(header, kImageWords);
  const auto name = column_of(header, kClassWords);
  const bool answers = std::any_of(header.begin(), header.end(),
                                   [](const std::string& text) { return plain_word(text) == "probability"; });
  if (!image || !name || *image == *name || answers) return std::nullopt;
  return ListColumns{*image, *name};
}

std::vector<ListedImage> list_of_csv(const CsvTable& table) {
  const auto columns = list_columns(table.header);
  if (!columns)
    fail(
        "{}:1: the columns are {}; expected one of images (image, file_name, path, id) and one of classes (class, "
        "label)",
        table.path.string(), excerpt(fmt::format("{}", fmt::join(table.header, ", ")), 300));
  std::vector<ListedImage> list;
  for (const CsvRow& row : table.rows)
    list.push_back(
        {std::string(trimmed(row.cells[columns->image])), clean_name(row.cells[columns->name]), table.where(row)});
  return list;
}

std::string text_of_json(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// The member of an object whose name is the first of some words.
template <size_t N>
const json* member_called(const json& object, const std::string_view (&words)[N]) {
  for (const std::string_view word : words) {
    for (const auto& [key, value] : object.items()) {
      if (plain_word(key) == word && (value.is_string() || value.is_number())) return &value;
    }
  }
  return nullptr;
}

std::vector<ListedImage> list_of_json_lines(const fs::path& path) {
  std::vector<ListedImage> list;
  for_each_line(path, [&](int64_t number, std::string_view line) {
    if (trimmed(line).empty()) return true;
    const std::string where = fmt::format("{}:{}", path.string(), number);
    const json object = parse_json(line, where);
    const json* image = object.is_object() ? member_called(object, kImageWords) : nullptr;
    const json* name = object.is_object() ? member_called(object, kClassWords) : nullptr;
    if (image == nullptr || name == nullptr)
      fail("{}: expected an object with an image (file_name) and its class (label)", where);
    list.push_back({text_of_json(*image), clean_name(text_of_json(*name)), where});
    return true;
  });
  return list;
}

/// https://cocodataset.org/#format-data: categories of objects; where all of an image are of one, it is the image's.
std::vector<ListedImage> list_of_coco(const json& root, const fs::path& path) {
  std::unordered_map<int64_t, std::string> names;
  for (const json& item : root.at("categories"))
    names[item.at("id").get<int64_t>()] = item.at("name").get<std::string>();
  std::map<int64_t, std::set<int64_t>> categories;  // of an image
  for (const json& item : root.at("annotations"))
    categories[item.at("image_id").get<int64_t>()].insert(item.at("category_id").get<int64_t>());
  std::vector<ListedImage> list;
  int64_t several = 0, none = 0;
  for (const json& item : root.at("images")) {
    const auto found = categories.find(item.at("id").get<int64_t>());
    if (found == categories.end() || found->second.size() != 1) {
      ++(found == categories.end() ? none : several);
      continue;
    }
    list.push_back(
        {item.at("file_name").get<std::string>(), clean_name(names.at(*found->second.begin())), path.string()});
  }
  if (several + none > 0)
    logger().warn("{}: images of several categories or none are left out: {} and {}", path.string(), several, none);
  return list;
}

/// The one choice of a task's first annotation; empty where there is none.
std::string choice_of(const json& task) {
  if (!task.contains("annotations") || task["annotations"].empty()) return "";
  for (const json& result : task["annotations"].front().value("result", json::array())) {
    const json value = result.value("value", json::object());
    if (value.contains("choices") && value["choices"].size() == 1) return value["choices"].front().get<std::string>();
  }
  return "";
}

/// Label Studio's JSON (tasks with annotations) and JSON-MIN (objects of image and choice).
std::vector<ListedImage> list_of_tasks(const json& tasks, const fs::path& path) {
  std::vector<ListedImage> list;
  int64_t without = 0;
  for (const json& task : tasks) {
    const bool full = task.is_object() && task.contains("data") && task["data"].is_object();
    const json* image = task.is_object() ? member_called(full ? task["data"] : task, kImageWords) : nullptr;
    const json* stated = full || !task.is_object() ? nullptr : member_called(task, kClassWords);
    const std::string name = full ? choice_of(task) : stated == nullptr ? "" : text_of_json(*stated);
    if (image == nullptr || name.empty())
      ++without;
    else
      list.push_back({text_of_json(*image), clean_name(name), path.string()});
  }
  if (without > 0 && !list.empty())
    logger().warn("{}: entries without an image and one choice are left out: {}", path.string(), without);
  return list;
}

std::vector<ListedImage> list_of_json(const fs::path& path) {
  const json root = read_json(path);
  std::vector<ListedImage> list;
  try {
    if (root.is_object() && root.contains("images") && root.contains("annotations") && root.contains("categories"))
      list = list_of_coco(root, path);
    else if (root.is_array())
      list = list_of_tasks(root, path);
  } catch (const std::exception& error) {
    fail("{}: {}", path.string(), reason_of(error));
  }
  if (list.empty())
    fail(
        "{} names no image with its class; a CSV image,class, JSON of COCO with one category an image, and Label "
        "Studio's choices are read",
        path.string());
  return list;
}

/// One class an image; the same row twice is once.
std::vector<ListedImage> each_once(std::vector<ListedImage> list, const fs::path& path) {
  std::unordered_map<std::string, const ListedImage*> seen;
  std::vector<ListedImage> once;
  once.reserve(list.size());
  for (ListedImage& image : list) {
    if (image.class_name.empty()) fail("{}: a class without a name", image.where);
    const auto first = image.image.empty() ? seen.end() : seen.find(image.image);
    if (first == seen.end()) {
      once.push_back(std::move(image));
      if (!once.back().image.empty()) seen.emplace(once.back().image, &once.back());
    } else if (first->second->class_name != image.class_name) {
      fail("{}: the image {} is of '{}' here and of '{}' at {}; an image has one class", image.where,
           excerpt(image.image), excerpt(image.class_name), excerpt(first->second->class_name), first->second->where);
    }
  }
  if (once.empty()) fail("{} names no class", path.string());
  return once;
}

}  // namespace

std::vector<ListedImage> read_image_list(const fs::path& path) {
  const std::string suffix = lowercase(path.extension().string());
  if (suffix == ".json") return each_once(list_of_json(path), path);
  if (suffix == ".jsonl" || suffix == ".ndjson") return each_once(list_of_json_lines(path), path);
  if (suffix == ".xml")
    fail("{}: XML is not read: export the annotations as ImageNet (a folder for each class), or as a CSV image,class",
         path.string());
  return each_once(list_of_csv(read_csv(path)), path);
}

}  // namespace protocom
