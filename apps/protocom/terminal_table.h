#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace protocom::cli {

/// What results are printed on.
struct ResultsTerminal {
  size_t width = 80;      ///< columns: of the terminal, else what COLUMNS says, else 80; 1,000 for a file or a pipe
  bool coloured = false;  ///< a terminal, unless NO_COLOR is set (no-color.org) or TERM is "dumb"
};
ResultsTerminal results_terminal();

enum class Tone { kPlain, kStrong, kFaint, kGood, kUnsure, kBad };

struct TerminalCell {
  std::string text;
  Tone tone = Tone::kPlain;
};

struct TerminalColumn {
  std::string title;
  size_t least = 8;       ///< it is not made narrower than that
  bool keep_end = false;  ///< whether a long text loses its middle, as paths do; else it loses its end
  bool right = false;     ///< numbers
  int dropped = 0;        ///< above 0 it may be left out if there is no room: the largest number first
};

/// How wide the columns become in `width`, two spaces apart: as wide as their cells (`widest`) if that fits, else the
/// widest ones narrower; 0: left out.
std::vector<size_t> fitted_widths(const std::vector<TerminalColumn>& columns, std::vector<size_t> widest, size_t width);

/// One line, with its end. Cells are made one line and safe for a terminal; what is too long has an ellipsis.
std::string table_line(const std::vector<TerminalColumn>& columns, const std::vector<size_t>& widths,
                       const std::vector<TerminalCell>& cells, bool coloured);
std::string title_line(const std::vector<TerminalColumn>& columns, const std::vector<size_t>& widths, bool coloured);

/// A table with its titles that is no wider than the terminal, unless its narrowest columns are.
std::string terminal_table(const std::vector<TerminalColumn>& columns,
                           const std::vector<std::vector<TerminalCell>>& rows, const ResultsTerminal& terminal);

/// Columns that a text takes on a terminal: wide letters two, combining ones none.
size_t display_width(std::string_view text);

/// The text if it is at most `width` columns wide; else its beginning and an ellipsis, or with `keep_end` a third of
/// them its beginning, an ellipsis and its end.
std::string cut_to(std::string_view text, size_t width, bool keep_end);

/// Prints rows on stdout with aligned columns; columns whose cells below the first row are all numbers are aligned to
/// the right.
void print_table(const std::vector<std::vector<std::string>>& rows);

/// The same as text.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace protocom::cli
