#include "xmp_sidecars.h"

#include <algorithm>

#include "base/text.h"
#include "cli.h"
#include "images/image_region.h"
#include "io/files.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

/// "animals", "birds", "robin" of "animals/birds/robin", "animals|birds|robin" or "animals > birds > robin".
std::vector<std::string> levels_of(const std::string& title) {
  std::vector<std::string> levels;
  for (const std::string_view piece : split_at(replaced(replaced(title, "|", "/"), ">", "/"), '/')) {
    if (!trimmed(piece).empty()) levels.emplace_back(trimmed(piece));
  }
  return levels;
}

void add_once(const std::string& word, std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
}

fs::path sidecar_of(const fs::path& photo) {
  const fs::path whole = photo.string() + ".xmp";
  fs::path shared = photo;
  shared.replace_extension(".xmp");
  std::error_code ignored;
  return !fs::exists(whole, ignored) && fs::exists(shared, ignored) ? shared : whole;
}

}  // namespace

void XmpSidecars::add(const fs::path& image, const Answer& answer) {
  if (answer.name().empty()) {
    ++of_none_;
    return;
  }
  XmpKeywords& keywords = keywords_[region_of(image).file];
  const auto entry = recognizer_.file().find_class(answer.name());
  const bool titled = entry && !entry->title.empty();
  const std::string title = titled ? entry->title : answer.name();
  const std::vector<std::string> levels = levels_of(title);
  if (levels.size() < 2) return add_once(titled ? first_word(title) : title, keywords.plain);
  for (const std::string& level : levels) add_once(level, keywords.plain);
  add_once(fmt::format("{}", fmt::join(levels, "|")), keywords.hierarchical);
}

void XmpSidecars::write() const {
  int64_t written = 0, same = 0;
  std::error_code ignored;
  for (const auto& [photo, keywords] : keywords_) {
    const fs::path path = sidecar_of(photo);
    const std::string before = fs::exists(path, ignored) ? read_file(path) : "";
    const std::string after = with_keywords(before, keywords, path);
    if (after != before) write_file(path, after);
    ++(after == before ? same : written);
  }
  print_table({{"sidecars written", std::to_string(written)},
               {"had these keywords", std::to_string(same)},
               {"none of these classes", std::to_string(of_none_)}});
}

}  // namespace protocom::cli
