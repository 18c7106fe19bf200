#include "io/csv.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"
#include "io/files.h"

namespace protocom {
namespace {

// Memory of a table besides its text, and the limit of the total.
constexpr size_t kBytesARow = 100;
constexpr size_t kBytesACell = 40;
constexpr size_t kMostBytes = size_t{1} << 30;

/// Returns the separator of a table's cells: of comma, semicolon and tab the most frequent one in its header, outside
/// quotes.
char detect_separator(std::string_view header) {
  std::array<std::pair<char, int>, 3> counts = {{{',', 0}, {';', 0}, {'\t', 0}}};
  bool quoted = false;
  for (const char c : header) {
    if (c == '"') quoted = !quoted;
    for (auto& [separator, count] : counts) count += !quoted && c == separator ? 1 : 0;
  }
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

/// Whether a spreadsheet would run a text as a formula, with or without apostrophes before it: "'=1" gets one more, so
/// that every text can be restored. A sign alone ("-", the standard input) is not one.
bool is_formula(std::string_view text) {
  const size_t first = text.find_first_not_of('\'');
  return first != std::string_view::npos && first + 1 < text.size() &&
         std::string_view("=+-@\t\r").find(text[first]) != std::string_view::npos;
}

bool is_blank(const std::vector<std::string>& cells) {
  return std::all_of(cells.begin(), cells.end(), [](const std::string& cell) { return trimmed(cell).empty(); });
}

/// Checks the encoding of a file: refuses UTF-16, and warns once of invalid UTF-8, which is used unchanged.
class EncodingCheck {
 public:
  explicit EncodingCheck(const std::filesystem::path& path) : path_(path) {}

  void see(int64_t number, std::string_view line) {
    if (number == 1) refuse_other_kinds(line);
    const std::string_view mark = line.substr(0, 2);
    if (number == 1 && (mark == "\xff\xfe" || mark == "\xfe\xff"))
      fail("{} begins with the byte order mark of UTF-16, expected UTF-8: save it as \"CSV UTF-8\"", path_.string());
    if (warned_ || is_utf8(line)) return;
    warned_ = true;
    logger().warn(
        "{}:{} is not UTF-8 (an older encoding of a spreadsheet?): names with accents will not match; save it as \"CSV "
        "UTF-8\"",
        path_.string(), number);
  }

 private:
  /// Refuses other file formats by their first bytes.
  void refuse_other_kinds(std::string_view line) const {
    const auto begins = [&line](std::string_view mark) { return line.substr(0, mark.size()) == mark; };
    if (begins("PK\x03\x04") || begins("\xd0\xcf\x11\xe0"))
      fail("{} is a spreadsheet's workbook (xlsx, ods or xls), not a CSV: save the sheet as \"CSV UTF-8\"",
           path_.string());
    if (begins("<!DOCTYPE") || begins("<!doctype") || begins("<html") || begins("<HTML"))
      fail("{} is a page of HTML, not a CSV: was it downloaded from behind a login?", path_.string());
    if (begins("version https://git-lfs"))
      fail("{} is a Git LFS pointer, not the file itself: run `git lfs pull`", path_.string());
  }

  const std::filesystem::path& path_;
  bool warned_ = false;
};

/// Returns the separator in "sep=;" above the header, a convention of Excel.
std::optional<char> separator_said(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.size() != 5 || text.substr(0, 4) != "sep=") return std::nullopt;
  return text[4];
}

/// Drops empty cells at the end: spreadsheets write separators after the last cell of a row.
void drop_blank_end(std::vector<std::string>& cells, size_t expected) {
  while (cells.size() > expected && trimmed(cells.back()).empty()) cells.pop_back();
}

/// Splits lines into cells; a quoted cell may contain line ends.
class CsvParser {
 public:
  void set_separator(char separator) { separator_ = separator; }

  /// Adds one line. Returns true if the row is complete, false if a quoted cell is still open.
  bool add_line(std::string_view line) {
    if (open_) cell_.push_back('\n');
    for (size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (open_) {
        if (c != '"') {
          cell_.push_back(c);
        } else if (i + 1 < line.size() && line[i + 1] == '"') {
          cell_.push_back('"');
          ++i;
        } else {
          open_ = false;
        }
      } else if (c == '"' && cell_.empty()) {
        open_ = true;
      } else if (c == separator_) {
        end_cell();
      } else {
        cell_.push_back(c);
      }
    }
    if (open_) return false;
    end_cell();
    return true;
  }

  [[nodiscard]] size_t cell_size() const { return cell_.size(); }
  std::vector<std::string> take_cells() { return std::exchange(cells_, {}); }
  [[nodiscard]] bool open() const { return open_; }

 private:
  void end_cell() {
    const bool guarded = !cell_.empty() && cell_.front() == '\'' && is_formula(cell_);
    cells_.push_back(guarded ? cell_.substr(1) : cell_);
    cell_.clear();
  }

  char separator_ = ',';
  bool open_ = false;
  std::string cell_;
  std::vector<std::string> cells_;
};

}  // namespace

size_t CsvTable::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    fail("{}:1: no column '{}'; the columns are: {}", path.string(), name,
         excerpt(fmt::format("{}", fmt::join(header, ", ")), 300));
  }
  return static_cast<size_t>(found - header.begin());
}

std::string CsvTable::where(const CsvRow& row) const { return fmt::format("{}:{}", path.string(), row.line); }

CsvTable read_csv(const std::filesystem::path& path) {
  CsvTable table;
  table.path = path;
  EncodingCheck encoding(path);
  CsvParser parser;
  std::optional<char> separator;  // as stated by the file
  int64_t row_line = 0;
  size_t bytes = 0;
  for_each_line(path, [&](int64_t number, std::string_view line) {
    encoding.see(number, line);
    if (number == 1 && line.substr(0, 3) == "\xef\xbb\xbf") line.remove_prefix(3);
    if (!parser.open()) {
      if (line.empty()) return true;
      row_line = number;
      if (const auto stated = number == 1 ? separator_said(line) : std::nullopt) {
        separator = stated;
        return true;
      }
      if (table.header.empty()) parser.set_separator(separator.value_or(detect_separator(line)));
    }
    if (!parser.add_line(line)) {
      if (parser.cell_size() > kLongestLine)
        fail("{}:{}: a quoted cell is longer than {} MiB", path.string(), row_line, kLongestLine >> 20);
      bytes += line.size() + kBytesACell;
      if (bytes > kMostBytes) fail("{}:{}: the table is too large, more than 1 GiB in memory", path.string(), number);
      return true;
    }
    auto cells = parser.take_cells();
    bytes += line.size() + kBytesARow + kBytesACell * cells.size();
    if (bytes > kMostBytes) fail("{}:{}: the table is too large, more than 1 GiB in memory", path.string(), number);
    if (is_blank(cells)) return true;
    if (!table.header.empty()) drop_blank_end(cells, table.header.size());
    if (table.header.empty()) {
      table.header = std::move(cells);
    } else if (cells.size() != table.header.size()) {
      fail("{}:{}: {} cells, the header has {}", path.string(), row_line, cells.size(), table.header.size());
    } else {
      table.rows.push_back({row_line, std::move(cells)});
    }
    return true;
  });
  if (parser.open()) fail("{}:{}: a quoted cell has no closing quote", path.string(), row_line);
  if (table.header.empty()) fail("{} is empty: expected a CSV with a header row", path.string());
  return table;
}

std::string csv_cell(std::string_view text) {
  const std::string guarded = (is_formula(text) ? "'" : "") + std::string(text);
  if (text.find_first_of(",;\t\"\n\r") == std::string_view::npos) return guarded;
  std::string quoted = "\"";
  for (const char c : guarded) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace protocom
