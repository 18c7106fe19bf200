#include "xmp_sidecars.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli.h"
#include "datasets/photo_keywords.h"
#include "images/image_region.h"
#include "io/files.h"
#include "recognizer/class_groups.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

void add_once(const std::string& word, std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
}

fs::path sidecar_path(const fs::path& photo) {
  const std::vector<fs::path> there = find_sidecars(photo);
  return there.empty() ? fs::path(photo.string() + ".xmp") : there.front();
}

}  // namespace

XmpSidecars::XmpSidecars(Recognizer& recognizer)
    : recognizer_(recognizer), groups_(composed_groups(recognizer.options().groups)) {}

std::vector<std::string> XmpSidecars::levels_of(const Answer& answer) const {
  const auto entry = recognizer_.file().find_class(answer.name());
  const auto group = groups_.find(answer.name());
  std::vector<std::string> levels =
      keyword_levels(answer.name(), entry ? entry->title : "", group == groups_.end() ? "" : group->second);
  // The answer's group has the first levels of its class.
  if (answer.group) levels.resize(std::min(levels.size(), class_levels(answer.group->name).size()));
  return levels;
}

void XmpSidecars::add(const fs::path& image, const Answer& answer) {
  if (answer.name().empty()) {
    ++of_none_;
    return;
  }
  XmpKeywords& keywords = keywords_[region_of(image).file];
  const double probability = (answer.group ? *answer.group : answer.ranking.front()).probability;
  keywords.probability = std::min(probability, keywords.probability.value_or(1.0));
  const std::vector<std::string> levels = levels_of(answer);
  for (const std::string& level : levels) add_once(level, keywords.plain);
  if (levels.size() > 1) add_once(fmt::format("{}", fmt::join(levels, "|")), keywords.hierarchical);
}

namespace {

/// Writes a sidecar; returns whether something was written. A dangling link would create a file elsewhere.
bool write_sidecar(const fs::path& path, const XmpKeywords& keywords) {
  std::error_code ignored;
  const bool is_there = fs::exists(path, ignored);
  if (!is_there && fs::is_symlink(fs::symlink_status(path, ignored)))
    fail("{} is a dangling symbolic link: remove it", path.string());
  const std::string before = is_there ? read_file(path) : "";
  const std::string after = with_keywords(before, keywords, path);
  if (after != before) write_file(path, after);
  return after != before;
}

}  // namespace

int64_t XmpSidecars::write() const {
  int64_t written = 0, same = 0, left = 0;
  for (const auto& [photo, keywords] : keywords_) {
    try {
      ++(write_sidecar(sidecar_path(photo), keywords) ? written : same);
    } catch (const Error& error) {
      logger().error("{}", error.what());
      ++left;
    }
  }
  std::vector<std::vector<std::string>> rows = {{"sidecars written", std::to_string(written)},
                                                {"had these keywords", std::to_string(same)},
                                                {"'none of these', skipped", std::to_string(of_none_)}};
  if (left > 0) rows.push_back({"not changed", std::to_string(left)});
  print_table(rows);
  return left;
}

}  // namespace protocom::cli
