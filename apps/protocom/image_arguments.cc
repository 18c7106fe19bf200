#include "image_arguments.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/log.h"

namespace protocom::cli {

namespace {

constexpr std::string_view kStandardInput = "-";

std::string standard_input() { return {std::istreambuf_iterator<char>(std::cin), {}}; }

/// Adds names, each ended by `end`; a line may have a Windows line end.
void add_names(const std::string& text, char end, std::vector<std::string>& names) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line, end);) {
    if (end == '\n' && !line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
}

/// The content of the standard input: names, one per line or as ended by `find -print0`, or an image.
struct Piped {
  std::vector<std::string> names;
  std::string image;
};

Piped read_piped() {
  Piped piped;
  const std::string text = standard_input();
  const std::string first = text.substr(0, text.find('\0'));
  std::error_code ignored;
  if (first.size() == text.size())
    add_names(text, '\n', piped.names);
  else if (is_image_name(first) || std::filesystem::exists(first, ignored))
    add_names(text, '\0', piped.names);
  else
    piped.image = text;
  if (piped.names.empty() && piped.image.empty()) fail("the standard input is empty, expected names of images");
  return piped;
}

}  // namespace

std::vector<std::string> with_listed(const std::vector<std::string>& images) {
  const ImageArguments all(images);
  if (all.has_piped()) fail_usage("the standard input holds an image, expected names of images");
  return all.paths();
}

ImageArguments::ImageArguments(const std::vector<std::string>& images) {
  for (const std::string& image : images) {
    if (image != kStandardInput) {
      paths_.push_back(image);
      continue;
    }
    const Piped piped = read_piped();
    paths_.insert(paths_.end(), piped.names.begin(), piped.names.end());
    if (piped.image.empty()) continue;
    piped_ = std::make_unique<MemoryFile>("the standard input");
    piped_->append(piped.image);
    paths_.push_back(piped_->path());
  }
}

std::filesystem::path ImageArguments::named(const std::filesystem::path& path) const {
  return piped_ && path == piped_->path() ? std::filesystem::path(kStandardInput) : path;
}

size_t folders_among(const std::vector<UnreadableFile>& unreadable) {
  return static_cast<size_t>(std::count_if(unreadable.begin(), unreadable.end(), [](const UnreadableFile& file) {
    std::error_code ignored;
    return std::filesystem::is_directory(file.path, ignored);
  }));
}

namespace {

/// Logs the reasons, after the row of a box.
void log_unreadable(const FoundImages& found, const std::vector<UnreadableFile>& unreadable) {
  std::map<std::filesystem::path, std::string> places;
  for (size_t i = 0; !unreadable.empty() && i < found.places.size(); ++i) places[found.paths[i]] = found.places[i];
  for (const UnreadableFile& file : unreadable) {
    const auto place = places.find(file.path);
    logger().error("{}{}", place == places.end() ? "" : place->second + ": ", file.reason);
  }
}

}  // namespace

void account_for(const FoundImages& found, const std::vector<UnreadableFile>& unreadable) {
  log_unreadable(found, found.unreadable);
  log_unreadable(found, unreadable);
  if (found.skipped.total() > 0) logger().warn("{}", found.skipped.describe());
  std::vector<UnreadableFile> lost = found.unreadable;
  lost.insert(lost.end(), unreadable.begin(), unreadable.end());
  const auto folders = folders_among(lost);
  if (folders > 0 && folders == lost.size()) fail("folders without readable images: {}", folders);
  if (!lost.empty())
    fail("{} of {} images could not be read", lost.size() - folders,
         lost.size() - folders + found.paths.size() - unreadable.size());
}

}  // namespace protocom::cli
