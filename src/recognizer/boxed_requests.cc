#include "recognizer/boxed_requests.h"

#include <map>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/box_layouts.h"
#include "datasets/boxes.h"
#include "datasets/image_list.h"
#include "images/image_files.h"
#include "recognizer/enrol_requests.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr size_t kShownClasses = 10;

/// The photos of all requests, and of whom they are.
struct PhotosOfRequests {
  std::vector<fs::path> paths;
  std::vector<std::vector<fs::path>> own;            // [requests]
  std::vector<std::vector<std::string>> unreadable;  // [requests], for the enrolment to name
};

PhotosOfRequests photos_in(std::vector<EnrolRequest>& requests) {
  PhotosOfRequests photos;
  for (EnrolRequest& request : requests) {
    std::vector<fs::path>& own = photos.own.emplace_back();
    std::vector<std::string>& unreadable = photos.unreadable.emplace_back();
    if (request.images.empty()) continue;
    try {
      FoundImages found = find_images(request.images);
      request.skipped.add(found.skipped);
      own = std::move(found.paths);
      for (const UnreadableFile& file : found.unreadable) unreadable.push_back(file.path.string());
    } catch (const Error&) {
      unreadable = request.images;
    }
    photos.paths.insert(photos.paths.end(), own.begin(), own.end());
  }
  return photos;
}

void crop_requests(const BoxFile& file, const fs::path& path, std::vector<EnrolRequest>& requests) {
  const PhotosOfRequests photos = photos_in(requests);
  if (photos.paths.empty()) return;
  std::map<fs::path, std::vector<std::string>> boxes;
  for (const Crop& crop : crop_photos(photos.paths, file, path)) boxes[crop.photo].push_back(crop.name.string());
  std::vector<EnrolRequest> left;
  std::vector<std::string> without;
  for (size_t i = 0; i < requests.size(); ++i) {
    EnrolRequest& request = requests[i];
    const bool had_images = !request.images.empty();
    request.images = photos.unreadable[i];
    for (const fs::path& photo : photos.own[i]) {
      const auto found = boxes.find(photo);
      if (found != boxes.end()) request.images.insert(request.images.end(), found->second.begin(), found->second.end());
    }
    if (had_images && request.images.empty())
      without.push_back(request.name);
    else
      left.push_back(std::move(request));
  }
  if (!without.empty())
    logger().warn("ignoring {} classes without a box: {}", without.size(), first_of(without, kShownClasses));
  requests = std::move(left);
}

/// A class for each kind, in their order in the alphabet.
std::vector<EnrolRequest> requests_of_kinds(const fs::path& folder, const BoxFile& file, const fs::path& path) {
  FoundImages found = find_images({folder.string()});
  std::map<std::string, EnrolRequest> classes;
  int64_t nameless = 0;
  for (const Crop& crop : crop_photos(found.paths, file, path)) {
    if (crop.kind.empty()) {
      ++nameless;
      continue;
    }
    EnrolRequest& request = classes[crop.kind];
    request.name = crop.kind;
    request.images.push_back(crop.name.string());
  }
  if (nameless > 0) logger().warn("{}: ignoring boxes without a class: {}", path.string(), nameless);
  if (classes.empty()) fail("{} has no box with a class", path.string());
  std::vector<EnrolRequest> requests;
  for (auto& entry : classes) requests.push_back(std::move(entry.second));
  requests.front().skipped = std::move(found.skipped);
  warn_of_same_but_capitals(names_of_requests(requests), "classes of " + path.string());
  return requests;
}

}  // namespace

std::vector<EnrolRequest> requests_of_boxed_folder(const fs::path& folder, std::string_view option,
                                                   const BoxChoice& given) {
  BoxChoice choice = given;
  if (choice.file.empty() && list_choices().classes_from.empty() && !image_list_in(folder)) {
    choice.file = boxes_beside(folder);
    if (!choice.file.empty()) logger().info("{}: using the classes of its boxes", folder.string());
  }
  if (choice.file.empty()) return requests_of_folder(folder, option);
  const BoxFile file = read_boxes(choice);
  if (file.kinds_are_classes) return requests_of_kinds(folder, file, choice.file);
  std::vector<EnrolRequest> requests = requests_of_folder(folder, option);
  crop_requests(file, choice.file, requests);
  return requests;
}

void take_boxes(const BoxChoice& choice, std::vector<EnrolRequest>& requests) {
  if (!choice.file.empty()) crop_requests(read_boxes(choice), choice.file, requests);
}

}  // namespace protocom
