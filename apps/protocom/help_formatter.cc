#include "help_formatter.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <vector>

#include "terminal_table.h"

namespace protocom::cli {
namespace {

constexpr size_t kLeft = 38, kWidth = 100;

/// Returns two columns: text too long for the left one has a line of its own.
std::string two_columns(const std::string& left, const std::string& text) {
  std::string lines = "  " + left;
  size_t used = display_width(lines);
  const auto break_line = [&] {
    lines += "\n" + std::string(kLeft, ' ');
    used = kLeft;
  };
  if (used + 2 > kLeft)
    break_line();
  else
    lines.append(kLeft - used, ' ');
  used = kLeft;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t width = display_width(word);
    if (used > kLeft && used + 1 + width > kWidth) break_line();
    lines += used == kLeft ? word : " " + word;
    used += width + (used == kLeft ? 0 : 1);
  }
  return lines + "\n";
}

/// A type as stated by CLI11, "FLOAT:FLOAT in [0 - 1]" or "TEXT:{auto,off}".
struct OptionType {
  std::string name;
  std::vector<std::string> choices;
  std::string range;
};

/// Returns "0.001 to 0.999"; a limit beyond every use is omitted.
std::string range_in(const std::string& constraint) {
  constexpr double kNoBound = 1e6;
  const size_t open = constraint.find('['), between = constraint.find(" - ", open), close = constraint.find(']', open);
  if (open == std::string::npos || between == std::string::npos || close == std::string::npos) return "";
  const std::string low = constraint.substr(open + 1, between - open - 1);
  const std::string high = constraint.substr(between + 3, close - between - 3);
  if (std::strtod(high.c_str(), nullptr) < kNoBound) return low + " to " + high;
  return std::strtod(low.c_str(), nullptr) > 0 ? "at least " + low : "";
}

OptionType type_of(const CLI::Option& option) {
  constexpr size_t kMostInName = 24;
  OptionType type;
  if (option.get_type_size() == 0) return type;
  const std::string stated = option.get_type_name();
  const size_t colon = stated.find(':');
  type.name = stated.substr(0, colon);
  if (type.name == "FLOAT") type.name = "NUMBER";
  if (type.name == "INT" || type.name == "UINT") type.name = "N";
  const std::string constraint = colon == std::string::npos ? "" : stated.substr(colon + 1);
  if (constraint.size() > 2 && constraint.front() == '{') {
    type.choices = CLI::detail::split(constraint.substr(1, constraint.size() - 2), ',');
    const std::string joined = fmt::format("{}", fmt::join(type.choices, "|"));
    if (joined.size() <= kMostInName) {
      type.name = joined;
      type.choices.clear();
    }
  }
  type.range = range_in(constraint);
  return type;
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());  // the set is sorted by addresses
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string notes_of(const CLI::Option& option, const OptionType& type) {
  std::vector<std::string> notes;
  if (option.get_required()) notes.emplace_back("required");
  const auto is_unnamed = [&](const std::string& choice) {
    return option.get_description().find(choice) == std::string::npos;
  };
  if (std::any_of(type.choices.begin(), type.choices.end(), is_unnamed))
    notes.push_back(fmt::format("one of {}", fmt::join(type.choices, ", ")));
  if (!type.range.empty()) notes.push_back(type.range);
  const std::string otherwise = type.name.empty() ? "" : option.get_default_str();
  if (!otherwise.empty() && otherwise != "[]") notes.push_back("default " + otherwise);
  if (!option.get_needs().empty()) notes.push_back("with " + names_of(option.get_needs()));
  if (!option.get_excludes().empty()) notes.push_back("not with " + names_of(option.get_excludes()));
  return notes.empty() ? "" : fmt::format(" ({})", fmt::join(notes, "; "));
}

}  // namespace

HelpFormatter::HelpFormatter() { column_width(kLeft); }

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  const OptionType type = type_of(*option);
  std::string left = make_option_name(option, is_positional);
  if (!type.name.empty()) left += " " + type.name;
  if (option->get_expected_max() == CLI::detail::expected_max_vector_size) left += " ...";
  return two_columns(left, make_option_desc(option) + notes_of(*option, type));
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return two_columns(command->get_name(), command->get_description());
}

}  // namespace protocom::cli
