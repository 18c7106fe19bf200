#include "datasets/image_list.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/detail/class_columns.h"
#include "datasets/detail/label_studio.h"
#include "datasets/detail/list_words.h"
#include "io/csv.h"
#include "io/files.h"
#include "io/json.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

struct ListColumns {
  size_t image, name;
};

/// Returns the columns of images and classes; nothing for other tables, and for the output of `classify --format csv`,
/// which has no labels.
std::optional<ListColumns> list_columns(const std::vector<std::string>& header) {
  const auto image = list_words::image_column(header);
  const auto name = list_words::class_column(header);
  const bool answers = std::any_of(header.begin(), header.end(), [](const std::string& text) {
    return list_words::plain_word(text) == "probability";
  });
  if (!image || !name || *image == *name || answers) return std::nullopt;
  return ListColumns{*image, *name};
}

/// Returns the columns; a question may name that of the classes.
std::optional<ListColumns> asked_columns(const CsvTable& table, const std::string& question) {
  auto columns = list_columns(table.header);
  if (question.empty()) return columns;
  const auto image = list_words::image_column(table.header);
  return image ? std::optional(ListColumns{*image, table.column(question)}) : std::nullopt;
}

std::vector<ListedImage> list_of_csv(const CsvTable& table, const ListChoices& choices) {
  if (label_studio::is_export(table)) return label_studio::list_of_rows(table, choices);
  const auto columns = asked_columns(table, choices.question);
  if (!columns) {
    if (auto list = class_columns::list_of_columns(table)) return *std::move(list);
  }
  if (!columns)
    fail(
        "{}:1: the columns are {}; expected one of images (image, file_name, path, id) and one of classes (class, "
        "label), or one of 0 and 1 for each class",
        table.path.string(), excerpt(fmt::format("{}", fmt::join(table.header, ", ")), 300));
  std::vector<ListedImage> list;
  for (const CsvRow& row : table.rows)
    list.push_back(
        {std::string(trimmed(row.cells[columns->image])), clean_name(row.cells[columns->name]), table.where(row)});
  return list;
}

std::vector<ListedImage> list_of_json_lines(const fs::path& path) {
  std::vector<ListedImage> list;
  for_each_line(path, [&](int64_t number, std::string_view line) {
    if (trimmed(line).empty()) return true;
    const std::string where = fmt::format("{}:{}", path.string(), number);
    const json object = parse_json(line, where);
    const json* image = object.is_object() ? list_words::image_member(object) : nullptr;
    const json* name = object.is_object() ? list_words::class_member(object) : nullptr;
    if (image == nullptr || name == nullptr)
      fail("{}: expected an object with an image (file_name) and its class (label)", where);
    list.push_back({list_words::text_of(*image), clean_name(list_words::text_of(*name)), where});
    return true;
  });
  return list;
}

/// Reads https://cocodataset.org/#format-data: categories of objects; if all objects of an image have one category, it
/// is the image's class.
std::vector<ListedImage> list_of_coco(const json& root, const fs::path& path) {
  using list_words::coco_id;
  std::unordered_map<std::string, std::string> names;
  for (const json& item : root.at("categories")) names[coco_id(item, "id")] = item.at("name").get<std::string>();
  std::map<std::string, std::set<std::string>> categories;  // of an image
  for (const json& item : root.at("annotations"))
    categories[coco_id(item, "image_id")].insert(coco_id(item, "category_id"));
  std::vector<ListedImage> list;
  int64_t several = 0, none = 0;
  for (const json& item : root.at("images")) {
    const auto found = categories.find(coco_id(item, "id"));
    if (found == categories.end() || found->second.size() != 1) {
      ++(found == categories.end() ? none : several);
      continue;
    }
    list.push_back(
        {item.at("file_name").get<std::string>(), clean_name(names.at(*found->second.begin())), path.string()});
  }
  if (several + none > 0)
    logger().warn("{}: ignoring images of several categories and of none: {} and {}", path.string(), several, none);
  return list;
}

std::vector<ListedImage> list_of_json(const fs::path& path, const ListChoices& choices) {
  const json root = read_json(path);
  std::vector<ListedImage> list;
  try {
    if (root.is_object() && root.contains("images") && root.contains("annotations") && root.contains("categories"))
      list = reading(path, [&] { return list_of_coco(root, path); });
    else if (root.is_array())
      list = label_studio::list_of_tasks(root, path, choices);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    fail("{}: {}", path.string(), reason_of(error));
  }
  if (list.empty())
    fail(
        "{} has no image with a class: expected a CSV image,class, COCO's JSON with one category per image, or Label "
        "Studio's choices",
        path.string());
  return list;
}

/// Checks that each image has one class; a repeated row counts once.
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
      fail("{}: the image {} has two classes, '{}' here and '{}' at {}; give it one", image.where, excerpt(image.image),
           excerpt(image.class_name), excerpt(first->second->class_name), first->second->where);
    }
  }
  if (once.empty()) fail("{} names no class", path.string());
  return once;
}

}  // namespace

std::vector<ListedImage> read_image_list(const fs::path& path, const ListChoices& choices) {
  const std::string suffix = lowercase(path.extension().string());
  if (suffix == ".json") return each_once(list_of_json(path, choices), path);
  if (suffix == ".jsonl" || suffix == ".ndjson") return each_once(list_of_json_lines(path), path);
  if (suffix == ".xml")
    fail(
        "{}: XML is not supported: export the annotations as ImageNet (a folder for each class), or as a CSV "
        "image,class",
        path.string());
  return each_once(list_of_csv(read_csv(path), choices), path);
}

}  // namespace protocom
