#include <unordered_map>

#include "base/error.h"
#include "datasets/detail/box_reader.h"
#include "io/json.h"

namespace protocom::box_reader {
namespace {

using nlohmann::json;

double number_of(const json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// x, y, width, height.
std::optional<ImageBox> box_of(const json& owner) {
  const auto found = owner.find("bbox");
  if (found == owner.end() || !found->is_array() || found->size() != 4) return std::nullopt;
  return ImageBox{number_of(found->at(0)), number_of(found->at(1)), number_of(found->at(2)), number_of(found->at(3))};
}

constexpr const char* kNoBox = "bbox is not four numbers";

struct Picture {
  std::string name;
  double width = 0, height = 0;  // 0: unknown
};

BoxPlace place_of(size_t outer, size_t inner = 0) { return {static_cast<int64_t>(outer), static_cast<int64_t>(inner)}; }

}  // namespace

bool is_megadetector(const json& root) {
  return root.is_object() && root.contains("images") && root.contains("detection_categories");
}

void take_megadetector(const json& root, Boxes& boxes) {
  const json& kinds = root.at("detection_categories");
  const json& images = root.at("images");
  for (size_t i = 0; i < images.size(); ++i) {
    const json& image = images.at(i);
    const auto detections = image.find("detections");
    if (detections == image.end() || !detections->is_array()) continue;  // a failure, or nothing was found
    for (size_t d = 0; d < detections->size(); ++d) {
      const json& detection = detections->at(d);
      const std::string where = fmt::format("images[{}].detections[{}]", i, d);
      std::optional<ImageBox> box = box_of(detection);
      if (!box) {
        boxes.refuse(where, kNoBox);
        continue;
      }
      box->relative = true;
      const std::string category = detection.at("category").get<std::string>();
      boxes.take({image.at("file").get<std::string>(), *box, kinds.value(category, category),
                  number_of(detection.value("conf", json(1))), place_of(i, d)},
                 where);
    }
  }
}

void take_coco(const json& root, Boxes& boxes) {
  std::unordered_map<int64_t, std::string> kinds;
  for (const json& item : root.at("categories"))
    kinds[whole_number<int64_t>(item.at("id"))] = item.at("name").get<std::string>();
  std::unordered_map<int64_t, Picture> pictures;
  for (const json& item : root.at("images"))
    pictures[whole_number<int64_t>(item.at("id"))] = {item.at("file_name").get<std::string>(),
                                                      number_of(item.value("width", json(0))),
                                                      number_of(item.value("height", json(0)))};
  const json& annotations = root.at("annotations");
  for (size_t i = 0; i < annotations.size(); ++i) {
    const json& item = annotations.at(i);
    const std::string where = fmt::format("annotations[{}]", i);
    const auto picture = pictures.find(whole_number<int64_t>(item.at("image_id")));
    const auto kind = kinds.find(whole_number<int64_t>(item.at("category_id")));
    const std::optional<ImageBox> box = box_of(item);
    const std::string wrong = !box                        ? kNoBox
                              : picture == pictures.end() ? "no image has its image_id"
                              : kind == kinds.end()       ? "no category has its category_id"
                                                    : outside(*box, picture->second.width, picture->second.height);
    if (!wrong.empty())
      boxes.refuse(where, wrong);
    else
      boxes.take({picture->second.name, *box, kind->second, number_of(item.value("score", json(1))), place_of(i)},
                 where);
  }
}

}  // namespace protocom::box_reader
