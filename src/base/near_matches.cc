#include "base/near_matches.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace protocom {

int64_t edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int64_t> before_last(width), last(width), row(width);
  for (size_t j = 0; j < width; ++j) row[j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = static_cast<int64_t>(i);
    for (size_t j = 1; j < width; ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

namespace {

/// Whether both are the same whole number, ignoring leading zeros.
bool same_number(std::string_view a, std::string_view b) {
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const auto digits = [](std::string_view text) {
    return text.substr(std::min(text.find_first_not_of('0'), text.size() - 1));
  };
  return is_number(a) && is_number(b) && digits(a) == digits(b);
}

constexpr size_t kMostNamed = 3;
constexpr size_t kLongestNamed = 200;       // bytes; longer texts are not typing errors
constexpr size_t kMostSteps = 100'000'000;  // of edit_distance for all candidates together, a few tenths of a second

std::vector<std::string> near_matches(std::string_view text, const std::vector<std::string>& candidates) {
  if (text.size() > kLongestNamed) return {};
  const std::string wanted = lowercase(text);
  size_t steps = 0;
  const auto tolerance = static_cast<int64_t>(std::max<size_t>(1, wanted.size() / 3));
  std::vector<std::pair<int64_t, std::string>> found;
  const auto distance_to = [&](const std::string& other) {
    if (same_number(wanted, other)) return int64_t{0};  // spreadsheets turn 001 into 1
    const auto longer =
        static_cast<int64_t>(std::max(wanted.size(), other.size()) - std::min(wanted.size(), other.size()));
    if (longer > tolerance) return longer;  // a lower bound
    steps += wanted.size() * other.size();
    return edit_distance(wanted, other);
  };
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestNamed) continue;
    if (steps > kMostSteps) break;
    const std::string other = lowercase(candidate);
    const int64_t distance = distance_to(other);
    const bool contains = wanted.size() >= 3 && other.find(wanted) != std::string::npos;
    if (distance <= tolerance) {
      found.emplace_back(distance, candidate);
    } else if (contains) {
      found.emplace_back(tolerance + 1, candidate);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (found.size() > kMostNamed) found.resize(kMostNamed);
  std::vector<std::string> result;
  for (auto& [distance, candidate] : found) result.push_back(std::move(candidate));
  return result;
}

}  // namespace

std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates) {
  const std::vector<std::string> near = near_matches(text, candidates);
  if (near.empty()) return "";
  std::string result = "; did you mean ";
  for (size_t i = 0; i < near.size(); ++i) {
    if (i > 0) result += i + 1 == near.size() ? " or " : ", ";
    result += "'" + near[i] + "'";
  }
  return result + "?";
}

std::string names_with_hints(const std::vector<std::string>& names, const std::vector<std::string>& candidates,
                             size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), most); ++i)
    text += fmt::format("{}'{}'{}", i > 0 ? ", " : "", excerpt(names[i]), did_you_mean(names[i], candidates));
  return names.size() > most ? text + ", ..." : text;
}

}  // namespace protocom
