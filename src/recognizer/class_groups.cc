#include "recognizer/class_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/clean_name.h"
#include "base/text.h"
#include "base/uuid.h"
#include "datasets/table_column.h"
#include "knowledge/names.h"

namespace protocom {
std::vector<std::string> class_levels(const std::string& title) {
  std::string plain = title;
  std::replace_if(
      plain.begin(), plain.end(), [](char one) { return one == '|' || one == '>' || one == ';'; }, '/');
  std::vector<std::string> levels;
  for (const std::string_view piece : split_at(plain, '/')) {
    const std::string_view level = trimmed(piece);
    if (!level.empty() && !(levels.empty() && is_uuid(level))) levels.emplace_back(level);
  }
  return levels;
}

std::vector<std::string> own_levels(const std::string& name, const std::string& title) {
  std::vector<std::string> titled = class_levels(title);
  return titled.size() > 1 ? titled : class_levels(name);
}

std::vector<std::string> grouped_levels(const std::string& name, const std::string& group) {
  std::vector<std::string> levels = class_levels(group);
  levels.push_back(name);
  return levels;
}

namespace {

/// Returns the name in words, as title_of_name() gives titles to classes; a name without any stays.
std::string words_of(const std::string& name) {
  const std::string words = title_of_name(name);
  return words.empty() ? name : words;
}

}  // namespace

std::vector<std::string> keyword_levels(const std::string& name, const std::string& title, const std::string& group) {
  std::vector<std::string> levels = class_levels(name);
  if (levels.empty()) levels.push_back(name);
  std::transform(levels.begin(), levels.end(), levels.begin(), &words_of);
  // A title that only repeats the name in words has lost its separators.
  const std::vector<std::string> titled =
      title == title_of_name(name) ? std::vector<std::string>() : class_levels(title);
  if (titled.size() > 1) levels = titled;
  if (!titled.empty()) levels.back() = first_word(titled.back());
  return group.empty() ? levels : grouped_levels(levels.back(), group);
}

std::map<std::string, std::string> composed_groups(const std::map<std::string, std::string>& given) {
  std::map<std::string, std::string> groups;
  for (const auto& [name, group] : given) groups[clean_name(name)] = group;
  return groups;
}

std::map<std::string, std::string> read_class_groups(const std::filesystem::path& table) {
  return cells_of_classes(table, {"group", "taxonomy"});
}

std::optional<RankedClass> probable_group(const std::vector<std::vector<std::string>>& levels,
                                          const Eigen::VectorXd& probabilities, int64_t best, double least) {
  const std::vector<std::string>& own = levels[static_cast<size_t>(best)];
  for (auto depth = static_cast<std::ptrdiff_t>(own.size()); depth > 0; --depth) {
    double sum = 0;
    for (size_t k = 0; k < levels.size(); ++k) {
      const bool is_within = static_cast<std::ptrdiff_t>(levels[k].size()) >= depth &&
                             std::equal(own.begin(), own.begin() + depth, levels[k].begin());
      if (is_within) sum += probabilities[static_cast<int64_t>(k)];
    }
    if (sum >= least) return RankedClass{fmt::format("{}", fmt::join(own.begin(), own.begin() + depth, "/")), sum};
  }
  return std::nullopt;
}

}  // namespace protocom
