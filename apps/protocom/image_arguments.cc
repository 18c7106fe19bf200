#include "image_arguments.h"

#include <iostream>
#include <iterator>
#include <sstream>

#include "protocom/core/error.h"
#include "protocom/core/log.h"

namespace protocom::cli {

namespace {

constexpr std::string_view kStandardInput = "-";

std::string standard_input() { return {std::istreambuf_iterator<char>(std::cin), {}}; }

/// A name holds no zero byte, and every format of images has one soon.
bool is_image(std::string_view bytes) { return bytes.find('\0') != std::string_view::npos; }

void add_lines(const std::string& text, std::vector<std::string>& names) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) names.push_back(line);
  }
}

}  // namespace

std::vector<std::string> with_listed(const std::vector<std::string>& images) {
  std::vector<std::string> all;
  for (const std::string& one : images) {
    if (one != kStandardInput) {
      all.push_back(one);
      continue;
    }
    const std::string text = standard_input();
    if (is_image(text)) fail_usage("the standard input holds an image, expected names of images");
    add_lines(text, all);
  }
  return all;
}

ImageArguments::ImageArguments(const std::vector<std::string>& images) {
  for (const std::string& one : images) {
    if (one != kStandardInput) {
      paths_.push_back(one);
      continue;
    }
    const std::string bytes = standard_input();
    if (!is_image(bytes)) {
      add_lines(bytes, paths_);
      continue;
    }
    piped_ = std::make_unique<MemoryFile>("the standard input");
    piped_->append(bytes);
    paths_.push_back(piped_->path());
  }
}

std::filesystem::path ImageArguments::named(const std::filesystem::path& path) const {
  return piped_ && path == piped_->path() ? std::filesystem::path(kStandardInput) : path;
}

void account_for(const FoundImages& found, const std::vector<UnreadableFile>& unreadable) {
  for (const auto* some : {&found.unreadable, &unreadable}) {
    for (const UnreadableFile& one : *some) logger().error("{}", one.reason);
  }
  if (found.skipped.total() > 0) logger().warn("{}", found.skipped.describe());
  const size_t lost = found.unreadable.size() + unreadable.size();
  if (lost > 0) fail("{} of {} images could not be read", lost, found.unreadable.size() + found.paths.size());
}

}  // namespace protocom::cli
