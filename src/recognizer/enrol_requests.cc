#include "recognizer/enrol_requests.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/near_matches.h"
#include "base/text.h"
#include "datasets/box_layouts.h"
#include "datasets/boxes.h"
#include "datasets/class_folders.h"
#include "datasets/image_list.h"
#include "datasets/photo_keywords.h"
#include "datasets/shard_labels.h"
#include "datasets/takeout.h"
#include "images/image_files.h"
#include "images/other_media.h"
#include "knowledge/tables.h"

namespace protocom {
namespace fs = std::filesystem;

namespace {

/// Returns the files in the folder that belong to no class.
SkippedFiles skipped_in(const fs::path& folder) {
  SkippedFiles skipped;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->is_directory(ignored)) {
      if (is_image_name(it->path()) || is_film(it->path())) skipped.add_beside_classes(it->path());
    } else if (is_left_out_folder(it->path())) {
      skipped.add_left_out_folder(it->path());
    }
  }
  return skipped;
}

/// Throws Error if two folders have one class name: names that differ only in Unicode composition (macOS) or blanks.
void check_names(const std::vector<EnrolRequest>& requests, const std::vector<fs::path>& folders) {
  std::map<std::string, fs::path> seen;
  for (size_t i = 0; i < folders.size(); ++i) {
    const auto [first, is_new] = seen.emplace(requests[i].name, folders[i]);
    if (!is_new)
      fail("{} and {} are both named '{}': put their images together, or rename one", first->second.string(),
           folders[i].string(), excerpt(first->first));
  }
}

/// Makes a request for each class that a list names, with its images as they are written there.
std::vector<EnrolRequest> requests_of_list(const std::vector<ListedImage>& list, const fs::path& source) {
  std::vector<EnrolRequest> requests;
  std::map<std::string, size_t> number;
  for (const ListedImage& image : list) {
    const auto [found, is_new] = number.emplace(image.class_name, requests.size());
    if (is_new) requests.emplace_back().name = image.class_name;
    if (!image.image.empty()) requests[found->second].images.push_back(image.image);
  }
  warn_of_same_but_capitals(names_of_requests(requests), "classes of " + source.string());
  return requests;
}

/// Throws Error for a folder without class folders and without a list of existing images: the message names a list of
/// other images, archives and films in the folder, or else what is expected.
[[noreturn]] void refuse_without_classes(const fs::path& folder, const ListChoices& lists) {
  if (const std::optional<fs::path> list = any_list_in(folder, lists)) requests_of_csv(*list, lists);
  std::string instead = other_media_in(folder);
  if (instead.empty()) instead = why_no_list(folder, lists);
  fail("{}: expected a subfolder of images for each class, or a CSV image,class beside the images; found {}",
       folder.string(), instead.empty() ? "none" : instead);
}

[[noreturn]] void refuse_missing(const fs::path& csv, size_t rows, const std::string& missing) {
  const std::string address = other_media(missing);
  fail("{}: {} rows, 0 files found, such as {}{}", csv.string(), rows, excerpt(missing),
       address.empty() ? ": put the list beside its photos, or into the folder above" : " (" + address + ")");
}

constexpr size_t kShownClasses = 10;

/// The photos of all requests, and which request each belongs to.
struct PhotosOfRequests {
  std::vector<fs::path> paths;
  std::vector<std::vector<fs::path>> own;            // [requests]
  std::vector<std::vector<std::string>> unreadable;  // [requests], to be named by the enrolment
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

void add_crop(const Crop& crop, EnrolRequest& request) {
  request.images.push_back(crop.name.string());
  request.rows[crop.name.string()] = crop.where;
}

void crop_requests(const BoxFile& file, const fs::path& path, std::vector<EnrolRequest>& requests) {
  const PhotosOfRequests photos = photos_in(requests);
  if (photos.paths.empty()) return;
  std::map<fs::path, std::vector<Crop>> boxes;
  for (Crop& crop : crop_photos(photos.paths, file, path)) boxes[crop.photo].push_back(std::move(crop));
  std::vector<EnrolRequest> left;
  std::vector<std::string> without;
  for (size_t i = 0; i < requests.size(); ++i) {
    EnrolRequest& request = requests[i];
    const bool had_images = !request.images.empty();
    request.images = photos.unreadable[i];
    for (const fs::path& photo : photos.own[i]) {
      const auto found = boxes.find(photo);
      if (found == boxes.end()) continue;
      for (const Crop& crop : found->second) add_crop(crop, request);
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

/// Makes a request for each kind, in alphabetical order.
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
    add_crop(crop, request);
  }
  if (nameless > 0) logger().warn("{}: ignoring boxes without a class: {}", path.string(), nameless);
  if (classes.empty()) fail("{} has no box with a class", path.string());
  std::vector<EnrolRequest> requests;
  for (auto& entry : classes) requests.push_back(std::move(entry.second));
  requests.front().skipped = std::move(found.skipped);
  warn_of_same_but_capitals(names_of_requests(requests), "classes of " + path.string());
  return requests;
}

constexpr size_t kHintsShown = 10;

/// Warns of misspelt names in either, which would leave the class without its attributes.
void warn_of_missing_rows(const std::vector<std::string>& named, const fs::path& table,
                          const std::vector<EnrolRequest>& requests) {
  const std::set<std::string> known(named.begin(), named.end());
  std::set<std::string> wanted;
  std::vector<std::string> without, unused;
  for (const EnrolRequest& request : requests) {
    wanted.insert(request.name);
    if (known.count(request.name) == 0) without.push_back(request.name);
  }
  for (const std::string& name : named) {
    if (wanted.count(name) == 0) unused.push_back(name);
  }
  if (!without.empty())
    logger().warn("{}: no row for {} of the {} classes to enrol: {}", table.string(), without.size(), requests.size(),
                  names_with_hints(without, unused, kHintsShown));
  if (!unused.empty())
    logger().warn("{}: ignoring {} classes that are not enrolled here: {}", table.string(), unused.size(),
                  names_with_hints(unused, without, kHintsShown));
}

}  // namespace

bool is_none_of_the_classes(const std::string& name) {
  static const std::set<std::string> kNames = {"none", "background", "blank", "other", "unknown"};
  return kNames.count(lowercase(name)) > 0;
}

std::vector<std::string> names_of_requests(const std::vector<EnrolRequest>& requests) {
  std::vector<std::string> names;
  for (const EnrolRequest& request : requests) names.push_back(request.name);
  return names;
}

std::vector<EnrolRequest> requests_of_folder(const fs::path& folder, const ListChoices& lists) {
  refuse_other_media(folder);
  if (is_list_file(folder)) return requests_of_csv(folder, lists);
  std::error_code ignored;
  if (fs::is_regular_file(folder, ignored))
    fail("{}: expected a folder of images or a list of them (.csv, .jsonl, .json), found another file",
         folder.string());
  if (!lists.classes_from.empty())
    return requests_of_list(list_by_keywords(folder, parse_keyword_choice(lists.classes_from)), folder);
  if (const std::optional<fs::path> list = image_list_in(folder, lists)) return requests_of_csv(*list, lists);
  if (const std::vector<ListedImage> list = list_by_sidecars(folder); !list.empty())
    return requests_of_list(list, folder);
  std::vector<fs::path> subfolders = folders_in(folder);
  if (subfolders.empty()) refuse_without_classes(folder, lists);
  refuse_photo_library(folder);
  refuse_parts(folder, lists);
  if (std::vector<fs::path> albums = takeout_albums(folder); !albums.empty()) subfolders = std::move(albums);
  warn_of_doubtful_classes(subfolders);
  SkippedFiles skipped = skipped_in(folder);
  std::vector<EnrolRequest> requests(subfolders.size());
  for (size_t i = 0; i < subfolders.size(); ++i) {
    requests[i].name = clean_name(subfolders[i].filename().string());
    requests[i].images = {subfolders[i].string()};
  }
  requests.front().skipped = std::move(skipped);
  check_names(requests, subfolders);
  warn_of_same_but_capitals(names_of_requests(requests), "classes of " + folder.string());
  return requests;
}

std::vector<EnrolRequest> requests_of_csv(const fs::path& csv, const ListChoices& lists) {
  size_t rows = 0, there = 0;
  std::string missing;
  std::vector<ListedImage> list = read_image_list(csv, lists);
  const fs::path folder = csv.parent_path().empty() ? fs::path(".") : csv.parent_path();
  const std::vector<std::optional<fs::path>> found = ListedFiles(folder).find_listed(list);
  for (size_t i = 0; i < list.size(); ++i) {
    ListedImage& image = list[i];
    if (image.image.empty()) continue;
    // If one is not found, its name is reported when it cannot be read.
    const std::optional<fs::path>& path = found[i];
    if (missing.empty()) missing = image.image;
    image.image = path.value_or(csv.parent_path() / image.image).string();
    ++rows;
    if (path) ++there;
  }
  if (rows > 0 && there == 0) refuse_missing(csv, rows, missing);
  return requests_of_list(list, csv);
}

std::vector<EnrolRequest> requests_of_boxed_folder(const fs::path& whole, const BoxChoice& given,
                                                   const ListChoices& lists, SplitPurpose purpose) {
  // If given boxes state the classes, they also determine which images count.
  const fs::path folder = given.file.empty() ? split_for(purpose, whole, lists) : whole;
  BoxChoice choice = given;
  const bool may_have_boxes = lists.classes_from.empty() && !is_list_file(folder);
  if (choice.file.empty() && may_have_boxes && !image_list_in(folder, lists)) {
    choice.file = boxes_beside(folder);
    if (!choice.file.empty()) logger().info("{}: using the classes of its boxes", folder.string());
  }
  if (choice.file.empty()) return requests_of_folder(folder, lists);
  const BoxFile file = read_boxes(choice);
  if (file.kinds_are_classes && !is_list_file(folder)) return requests_of_kinds(folder, file, choice.file);
  std::vector<EnrolRequest> requests = requests_of_folder(split_for(purpose, folder, lists), lists);
  crop_requests(file, choice.file, requests);
  return requests;
}

void replace_by_boxes(const BoxChoice& choice, std::vector<EnrolRequest>& requests) {
  if (!choice.file.empty()) crop_requests(read_boxes(choice), choice.file, requests);
}

std::vector<EnrolRequest> requests_of_features(const FeatureSet& features, const std::string& class_name) {
  std::vector<std::vector<int64_t>> rows = features.rows_by_class();
  if (!class_name.empty()) {
    rows.assign(1, std::vector<int64_t>(static_cast<size_t>(features.size())));
    std::iota(rows.front().begin(), rows.front().end(), 0);
  }
  std::vector<EnrolRequest> requests;
  for (size_t k = 0; k < rows.size(); ++k) {
    if (rows[k].empty()) continue;
    EnrolRequest& made = requests.emplace_back();
    made.name = class_name.empty() ? features.class_names[k] : class_name;
    made.examples = examples_of_features(features.features.gathered(rows[k]));
    for (size_t i = 0; i < rows[k].size(); ++i)
      made.examples.sources[i] = features.image_ids[static_cast<size_t>(rows[k][i])];
  }
  return requests;
}

void add_attributes_of_table(const fs::path& table, std::vector<EnrolRequest>& requests) {
  const AttributeTable read = read_attributes(table);
  std::map<std::string, EnrolRequest*> by_name;
  for (EnrolRequest& request : requests) by_name[request.name] = &request;
  bool any = false;
  for (size_t k = 0; k < read.classes.size(); ++k) {
    const auto found = by_name.find(read.classes[k]);
    if (found == by_name.end()) continue;
    EnrolRequest& request = *found->second;
    if (!request.attributes.empty())
      fail_usage("class '{}' has attributes already, {} would add others", request.name, table.string());
    request.unknown = UnknownAttribute::kLeaveOut;
    const Array row = read.association.row(static_cast<int64_t>(k));  // [a]
    for (size_t a = 0; a < read.attributes.size(); ++a) {
      const float weight = row.data<float>()[a];
      if (weight <= 0) continue;
      request.attributes.push_back(read.attributes[a]);
      request.weights.push_back(weight);
    }
    any = true;
  }
  if (!any)
    fail("{} names none of the {} classes to enrol{}", table.string(), requests.size(),
         did_you_mean(requests.front().name, read.classes));
  warn_of_missing_rows(read.classes, table, requests);
}

void set_text_vectors(const ClassTexts& texts, const Array& vectors, std::vector<EnrolRequest>& requests) {
  std::map<std::string, int64_t> place;
  for (size_t i = 0; i < texts.classes.size(); ++i) place[texts.classes[i]] = static_cast<int64_t>(i);
  std::set<std::string> unused(texts.classes.begin(), texts.classes.end());
  for (EnrolRequest& request : requests) {
    const auto found = place.find(clean_name(request.name));
    if (found == place.end()) continue;
    request.text_vector = vectors.row(found->second);
    unused.erase(found->first);
  }
  if (unused.size() == place.size())
    fail("no description is of a class to enrol: they name '{}', ..., the classes are '{}', ...",
         excerpt(texts.classes.front()), excerpt(requests.empty() ? "" : requests.front().name));
  if (!unused.empty())
    logger().warn("ignoring descriptions of classes that are not enrolled here: {}",
                  names_with_hints({unused.begin(), unused.end()}, names_of_requests(requests), kHintsShown));
}

RequestFiles find_files(const std::vector<EnrolRequest>& requests) {
  RequestFiles files;
  for (size_t i = 0; i < requests.size(); ++i) {
    files.skipped.add(requests[i].skipped);
    if (requests[i].images.empty()) continue;
    try {
      const FoundImages found = find_images(requests[i].images);
      files.paths.insert(files.paths.end(), found.paths.begin(), found.paths.end());
      files.owner.resize(files.paths.size(), i);
      files.skipped.add(found.skipped);
      files.unreadable.insert(files.unreadable.end(), found.unreadable.begin(), found.unreadable.end());
    } catch (const Error& error) {
      files.unreadable.push_back({requests[i].images.front(), error.what()});
    }
  }
  return files;
}

void RequestFiles::add_unreadable(const std::vector<UnreadableFile>& files, const std::vector<EnrolRequest>& requests) {
  for (const UnreadableFile& file : files) {
    UnreadableFile& added = unreadable.emplace_back(file);
    for (const EnrolRequest& request : requests) {
      const auto row = request.rows.find(file.path.string());
      if (row == request.rows.end()) continue;
      added.reason = row->second + ": " + added.reason;
      break;
    }
  }
}

}  // namespace protocom
