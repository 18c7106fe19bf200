#include "recognizer/class_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "base/uuid.h"
#include "datasets/table_column.h"

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
