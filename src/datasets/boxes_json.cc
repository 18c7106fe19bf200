#include <unordered_map>

#include "base/error.h"
#include "datasets/detail/box_reader.h"
#include "datasets/detail/list_words.h"
#include "io/json.h"

namespace protocom::box_reader {
namespace {

using nlohmann::json;

double read_number(const json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// Reads x, y, width, height.
std::optional<ImageBox> box_of(const json& owner) {
  const auto found = owner.find("bbox");
  if (found == owner.end() || !found->is_array() || found->size() != 4) return std::nullopt;
  return ImageBox{read_number(found->at(0)), read_number(found->at(1)), read_number(found->at(2)),
                  read_number(found->at(3))};
}

constexpr const char* kNoBox = "bbox is not four numbers";

struct Picture {
  std::string name;
  double width = 0, height = 0;  // 0: unknown
};

/// Calls `take`, which reads the value at a place; wrong formats are thrown as an Error that names the place.
template <typename Take>
void at_place(const std::string& where, const Take& take) {
  try {
    take();
  } catch (const std::exception& error) {
    fail("{}: {}", where, reason_of(error));
  }
}

/// Adds a value by its id. Throws Error if two have the same id, since a box's reference would be ambiguous.
template <typename Value>
void add_by_id(std::unordered_map<std::string, Value>& all, std::string id, Value value) {
  if (!all.emplace(id, std::move(value)).second) fail("duplicate id {}", excerpt(id));
}

/// Returns a list. The error names it if it is missing or not a list.
const json& list_in(const json& root, const char* name) {
  const json& list = root.at(name);
  if (!list.is_array()) fail("{} is not a list", name);
  return list;
}

BoxPlace place_of(size_t outer, size_t inner = 0) { return {static_cast<int64_t>(outer), static_cast<int64_t>(inner)}; }

}  // namespace

bool is_megadetector(const json& root) {
  return root.is_object() && root.contains("images") && root.contains("detection_categories");
}

namespace {

void take_detection(const json& image, const json& detection, const json& kinds, const BoxPlace& place, Boxes& boxes) {
  const std::string where = fmt::format("images[{}].detections[{}]", place.outer, place.inner);
  std::optional<ImageBox> box = box_of(detection);
  if (!box) return boxes.refuse(where, kNoBox);
  box->relative = true;
  at_place(where, [&] {
    const std::string category = detection.at("category").get<std::string>();
    boxes.take({image.at("file").get<std::string>(), *box, kinds.value(category, category),
                read_number(detection.value("conf", json(1))), place},
               where);
  });
}

void take_listed(const json& image, Boxes& boxes) {
  std::string name = image.at("file").get<std::string>();
  if (const auto failure = image.find("failure"); failure != image.end() && !failure->is_null())
    boxes.list_failure(name);
  boxes.list_photo(std::move(name));
}

std::unordered_map<std::string, std::string> coco_kinds(const json& root) {
  std::unordered_map<std::string, std::string> kinds;
  const json& list = list_in(root, "categories");
  for (size_t i = 0; i < list.size(); ++i) {
    at_place(fmt::format("categories[{}]", i),
             [&] { add_by_id(kinds, list_words::coco_id(list[i], "id"), list[i].at("name").get<std::string>()); });
  }
  return kinds;
}

std::unordered_map<std::string, Picture> coco_pictures(const json& root) {
  std::unordered_map<std::string, Picture> pictures;
  const json& list = list_in(root, "images");
  for (size_t i = 0; i < list.size(); ++i) {
    const json& item = list[i];
    at_place(fmt::format("images[{}]", i), [&] {
      add_by_id(pictures, list_words::coco_id(item, "id"),
                Picture{item.at("file_name").get<std::string>(), read_number(item.value("width", json(0))),
                        read_number(item.value("height", json(0)))});
    });
  }
  return pictures;
}

}  // namespace

void take_megadetector(const json& root, Boxes& boxes) {
  const json& kinds = root.at("detection_categories");
  if (!kinds.is_object()) fail("detection_categories is not an object");
  const json& images = list_in(root, "images");
  for (size_t i = 0; i < images.size(); ++i) {
    const std::string where = fmt::format("images[{}]", i);
    at_place(where, [&] { take_listed(images[i], boxes); });
    const auto detections = images[i].find("detections");
    if (detections == images[i].end() || !detections->is_array()) continue;  // a failure, or nothing was found
    for (size_t d = 0; d < detections->size(); ++d)
      take_detection(images[i], (*detections)[d], kinds, place_of(i, d), boxes);
  }
}

void take_coco(const json& root, Boxes& boxes) {
  const auto kinds = coco_kinds(root);
  const auto pictures = coco_pictures(root);
  for (const auto& [id, picture] : pictures) boxes.list_photo(picture.name);
  const json& annotations = list_in(root, "annotations");
  const auto take = [&](const json& item, const BoxPlace& place, const std::string& where) {
    const auto picture = pictures.find(list_words::coco_id(item, "image_id"));
    const auto kind = kinds.find(list_words::coco_id(item, "category_id"));
    const std::optional<ImageBox> box = box_of(item);
    const std::string wrong = !box                        ? kNoBox
                              : picture == pictures.end() ? "no image has its image_id"
                              : kind == kinds.end()       ? "no category has its category_id"
                                                    : outside(*box, picture->second.width, picture->second.height);
    if (!wrong.empty()) return boxes.refuse(where, wrong);
    boxes.take({picture->second.name, *box, kind->second, read_number(item.value("score", json(1))), place}, where);
  };
  for (size_t i = 0; i < annotations.size(); ++i) {
    const std::string where = fmt::format("annotations[{}]", i);
    at_place(where, [&] { take(annotations[i], place_of(i), where); });
  }
}

}  // namespace protocom::box_reader
