#include "terminal_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/enum_words.h"
#include "base/error.h"
#include "base/utf8.h"

namespace protocom::cli {
namespace {

constexpr size_t kBetween = 2;  // columns
constexpr size_t kWidest = 1000;

constexpr EnumWord<Tone> kColours[] = {{Tone::kPlain, ""},          {Tone::kStrong, "\x1b[1m"},
                                       {Tone::kFaint, "\x1b[2m"},   {Tone::kGood, "\x1b[32m"},
                                       {Tone::kUnsure, "\x1b[33m"}, {Tone::kBad, "\x1b[31m"}};

size_t total_width(const std::vector<size_t>& widths) {
  size_t total = 0;
  for (const size_t width : widths) total += width == 0 ? 0 : width + kBetween;
  return total == 0 ? 0 : total - kBetween;
}

size_t width_of(char32_t code) {
  const auto within = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
  if (within(0x300, 0x36F) || code == 0x200D || within(0xFE00, 0xFE0F)) return 0;  // combines with the letter before
  const bool wide = within(0x1100, 0x115F) || within(0x2E80, 0xA4CF) || within(0xAC00, 0xD7A3) ||
                    within(0xF900, 0xFAFF) || within(0xFE30, 0xFE6F) || within(0xFF00, 0xFF60) ||
                    within(0xFFE0, 0xFFE6) || within(0x1F300, 0x1FAFF) || within(0x20000, 0x3FFFD);
  return wide ? 2 : 1;
}

/// Narrows the widest column that may be narrower by one; returns false if there is none.
bool narrow(const std::vector<TerminalColumn>& columns, std::vector<size_t>& widths) {
  size_t widest = columns.size();
  for (size_t c = 0; c < columns.size(); ++c) {
    if (widths[c] > columns[c].least && (widest == columns.size() || widths[c] > widths[widest])) widest = c;
  }
  if (widest == columns.size()) return false;
  --widths[widest];
  return true;
}

bool looks_numeric(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) ||
           std::string_view("+-., %e±").find(c) != std::string_view::npos;
  });
}

}  // namespace

ResultsTerminal results_terminal() {
  ResultsTerminal terminal;
  winsize size{};
  const char* asked = std::getenv("COLUMNS");
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.width = size.ws_col;
  } else if (asked != nullptr && std::atoi(asked) > 0) {
    terminal.width = std::min(static_cast<size_t>(std::atoi(asked)), kWidest);
  } else if (::isatty(STDOUT_FILENO) == 0) {
    terminal.width = kWidest;  // a file or another program: nothing is cut
  }
  const char* no_colour = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  terminal.coloured = ::isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0') && kind != nullptr &&
                      std::strcmp(kind, "dumb") != 0;
  return terminal;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    const Letter letter = letter_at(text, at);
    width += width_of(letter.code);
    at += letter.size;
  }
  return width;
}

std::string cut_to(std::string_view text, size_t width, bool keep_end) {
  if (display_width(text) <= width) return std::string(text);
  const size_t room = std::max<size_t>(width, 1) - 1;  // without the ellipsis
  const size_t before = keep_end ? room / 3 : room;
  std::vector<std::string_view> letters;
  for (size_t at = 0; at < text.size();) {
    const size_t size = letter_at(text, at).size;
    letters.push_back(text.substr(at, size));
    at += size;
  }
  size_t first = 0, used = 0;
  std::string words;
  for (; first < letters.size() && used + display_width(letters[first]) <= before; ++first) {
    used += display_width(letters[first]);
    words += letters[first];
  }
  size_t last = letters.size();
  for (; keep_end && last > first && used + display_width(letters[last - 1]) <= room; --last)
    used += display_width(letters[last - 1]);
  words += "…";
  for (; last < letters.size(); ++last) words += letters[last];
  return words;
}

std::vector<size_t> fitted_widths(const std::vector<TerminalColumn>& columns, std::vector<size_t> widest,
                                  size_t width) {
  const std::vector<size_t> whole = widest;
  int dropped = 0;
  for (const TerminalColumn& column : columns) dropped = std::max(dropped, column.dropped);
  for (;; --dropped) {
    while (total_width(widest) > width && narrow(columns, widest)) continue;
    if (total_width(widest) <= width || dropped == 0) return widest;
    // The space of dropped columns goes to the others.
    for (size_t c = 0; c < columns.size(); ++c) widest[c] = columns[c].dropped >= dropped ? 0 : whole[c];
  }
}

std::string table_line(const std::vector<TerminalColumn>& columns, const std::vector<size_t>& widths,
                       const std::vector<TerminalCell>& cells, bool coloured) {
  std::string line;
  size_t spaces = 0;
  for (size_t c = 0; c < columns.size(); ++c) {
    if (widths[c] == 0) continue;
    const std::string words = cut_to(one_line(cells[c].text), widths[c], columns[c].keep_end);
    const size_t padding = widths[c] - std::min(widths[c], display_width(words));
    const bool tinted = coloured && cells[c].tone != Tone::kPlain && !words.empty();
    spaces += columns[c].right ? padding : 0;
    if (!words.empty()) {
      line.append(spaces, ' ');
      spaces = 0;
      line += tinted ? fmt::format("{}{}\x1b[0m", word_of(kColours, cells[c].tone), words) : words;
    }
    spaces += (columns[c].right ? 0 : padding) + kBetween;
  }
  return line + "\n";
}

std::string title_line(const std::vector<TerminalColumn>& columns, const std::vector<size_t>& widths, bool coloured) {
  std::vector<TerminalCell> titles;
  for (const TerminalColumn& column : columns) titles.push_back({column.title, Tone::kFaint});
  std::vector<TerminalColumn> shown = columns;
  for (TerminalColumn& column : shown) column.keep_end = false;  // that is for paths
  return table_line(shown, widths, titles, coloured);
}

std::string terminal_table(const std::vector<TerminalColumn>& columns,
                           const std::vector<std::vector<TerminalCell>>& rows, const ResultsTerminal& terminal) {
  std::vector<size_t> widest;
  for (size_t c = 0; c < columns.size(); ++c) {
    widest.push_back(display_width(columns[c].title));
    for (const auto& row : rows) widest[c] = std::max(widest[c], display_width(one_line(row[c].text)));
  }
  const std::vector<size_t> widths = fitted_widths(columns, std::move(widest), terminal.width);
  std::string text = title_line(columns, widths, terminal.coloured);
  for (const auto& row : rows) text += table_line(columns, widths, row, terminal.coloured);
  return text;
}

namespace {

/// Passes on the lines of a table one by one: a long cell widens every row.
template <typename Take>
void each_table_line(const std::vector<std::vector<std::string>>& rows, const Take& take) {
  std::vector<TerminalColumn> columns;
  std::vector<size_t> widths;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < rows[r].size(); ++c) {
      if (c == widths.size()) {
        widths.push_back(0);
        columns.emplace_back().right = true;
      }
      const std::string words = one_line(rows[r][c]);
      widths[c] = std::min(std::max(widths[c], display_width(words)), kWidest);
      if (r > 0 && !looks_numeric(words)) columns[c].right = false;
    }
  }
  for (const std::vector<std::string>& row : rows) {
    std::vector<TerminalCell> cells(columns.size());
    for (size_t c = 0; c < row.size(); ++c) cells[c].text = row[c];
    take(table_line(columns, widths, cells, /*coloured=*/false));
  }
}

}  // namespace

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  each_table_line(rows, [&](const std::string& line) { text += line; });
  return text;
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  each_table_line(rows, [](const std::string& line) { fmt::print("{}", line); });
}

}  // namespace protocom::cli
