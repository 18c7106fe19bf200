#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace protocom::cli {

/// The output for results.
struct ResultsTerminal {
  size_t width = 80;      ///< columns: the terminal's, else COLUMNS, else 80; 1,000 for a file or a pipe
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
  size_t least = 8;       ///< least width
  bool keep_end = false;  ///< whether a long text loses its middle, as for paths; else it loses its end
  bool right = false;     ///< align to the right, for numbers
  int dropped = 0;        ///< if above 0, the column may be dropped if there is no space: the largest number first
};

/// Returns the widths of the columns within `width`, two spaces apart: as wide as their cells (`widest`) if that fits,
/// else with the widest ones narrowed; 0: dropped.
std::vector<size_t> fitted_widths(const std::vector<TerminalColumn>& columns, std::vector<size_t> widest, size_t width);

/// Returns one line, with its end. Cells are made single-line and safe for a terminal; long ones are cut with an
/// ellipsis.
std::string table_line(const std::vector<TerminalColumn>& columns, const std::vector<size_t>& widths,
                       const std::vector<TerminalCell>& cells, bool coloured);
std::string title_line(const std::vector<TerminalColumn>& columns, const std::vector<size_t>& widths, bool coloured);

/// Returns a table with titles that fits the terminal, if its narrowest columns fit.
std::string terminal_table(const std::vector<TerminalColumn>& columns,
                           const std::vector<std::vector<TerminalCell>>& rows, const ResultsTerminal& terminal);

/// Returns the columns that a text takes on a terminal: two for wide letters, none for combining ones.
size_t display_width(std::string_view text);

/// Returns the text if it is at most `width` columns wide; else its beginning and an ellipsis, or with `keep_end` its
/// beginning (a third of the width), an ellipsis and its end.
std::string cut_to(std::string_view text, size_t width, bool keep_end);

/// Prints rows on stdout with aligned columns; columns whose cells below the first row are all numbers are
/// right-aligned.
void print_table(const std::vector<std::vector<std::string>>& rows);

/// Returns them as text.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace protocom::cli
