#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// One row of a CSV file (RFC 4180 quoting), with the number of its first line, for messages.
struct CsvRow {
  int64_t line = 0;
  std::vector<std::string> cells;
};

/// A CSV file in memory: a header row and the rows below it. Lines whose cells are all empty are skipped; a UTF-8
/// byte-order mark is dropped.
struct CsvTable {
  std::filesystem::path path;
  std::vector<std::string> header;
  std::vector<CsvRow> rows;

  /// Returns the index of the column `name`; throws Error that lists the existing columns.
  [[nodiscard]] size_t column(std::string_view name) const;
  /// Returns "file.csv:17", for messages.
  [[nodiscard]] std::string where(const CsvRow& row) const;
};

/// Reads a CSV (plain or gzip) with cells separated by commas, or as in some spreadsheets by semicolons or tabs:
/// whichever is most frequent in its header. Invalid UTF-8 is used unchanged, with one warning for the file. Throws
/// Error with file and line if a row has another number of cells than the header or a quote is not closed, and for
/// UTF-16.
CsvTable read_csv(const std::filesystem::path& path);

/// Returns one cell, quoted if necessary. A text that a spreadsheet would run as a formula ("=cmd|...", "+1", "-x",
/// "@y") is written after an apostrophe, which read_csv removes.
std::string csv_cell(std::string_view text);

}  // namespace protocom
