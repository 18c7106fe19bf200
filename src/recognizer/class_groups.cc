#include "recognizer/class_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace protocom {
namespace {

/// 8-4-4-4-12 hexadecimal digits.
bool is_uuid(std::string_view text) {
  constexpr std::string_view kForm = "00000000-0000-0000-0000-000000000000";
  return text.size() == kForm.size() && std::equal(text.begin(), text.end(), kForm.begin(), [](char one, char form) {
           return form == '-' ? one == '-' : std::isxdigit(static_cast<unsigned char>(one)) != 0;
         });
}

}  // namespace

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
