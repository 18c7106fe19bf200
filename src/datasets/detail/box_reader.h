#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/boxes.h"

namespace protocom::box_reader {

/// Collects the requested boxes of a file.
class Boxes {
 public:
  explicit Boxes(const BoxChoice& choice);

  /// Takes a box; `where` is its place in messages: "crops.csv:3", "annotations[7]".
  void take(PhotoBox box, const std::string& where);
  /// Adds a photo that the file lists, with or without boxes.
  void list_photo(std::string name) { file_.photos.push_back(std::move(name)); }
  /// Adds a photo that the detector could not read: it has no boxes, but need not be empty.
  void list_failure(const std::string& name);
  /// Records an invalid box and the reason.
  void refuse(const std::string& where, const std::string& reason);
  /// Logs what was left out. `kinds_may_be_classes`: false for a format with only a detector's kinds. Throws Error if
  /// nothing is left.
  BoxFile finish(bool kinds_may_be_classes);

 private:
  void take_kind(PhotoBox& box);
  [[nodiscard]] bool is_asked_for(const std::string& kind) const;
  void drop_repeated();
  void check_kinds(const std::vector<std::string>& known) const;

  const BoxChoice& choice_;
  std::vector<std::string> kinds_;                // lower case
  std::map<std::string, std::string> all_kinds_;  // kinds of the file, with their first spelling
  std::set<std::string> merged_kinds_;            // spelt in two ways, the first few
  BoxFile file_;
  std::vector<std::string> refused_;  // the first few
  std::vector<std::string> failures_;
  int64_t refused_count_ = 0, repeated_ = 0, unsure_ = 0, others_ = 0;
};

/// Parses a number; NaN for anything else.
double number_in(std::string_view text);
/// Returns why a box in pixels is not in a picture of that size (0: unknown); empty: it is.
std::string outside(const ImageBox& box, double width, double height);

/// Whether MegaDetector wrote the JSON.
bool is_megadetector(const nlohmann::json& root);
void take_megadetector(const nlohmann::json& root, Boxes& boxes);
void take_coco(const nlohmann::json& root, Boxes& boxes);
/// Takes the boxes of a folder that contains labels/, or has that name. `yaml`: the data.yaml with the class names;
/// empty: it is found in the folder or above it.
void take_yolo(const std::filesystem::path& folder, Boxes& boxes, const std::filesystem::path& yaml = {});
/// Returns the label files below such a folder, sorted; none: it is not such a folder.
std::vector<std::filesystem::path> yolo_texts(const std::filesystem::path& folder);
/// Takes the boxes of a Pascal VOC file.
void take_voc(const std::filesystem::path& file, Boxes& boxes);

}  // namespace protocom::box_reader
