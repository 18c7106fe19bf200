#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// One line of a CSV file (RFC 4180 quoting), with the number of the line it began on, for messages.
struct CsvRow {
  int64_t line = 0;
  std::vector<std::string> cells;
};

/// A CSV file held in memory: a header row and the rows below it. Lines without any text in their cells are skipped; a
/// UTF-8 byte-order mark is dropped.
struct CsvTable {
  std::filesystem::path path;
  std::vector<std::string> header;
  std::vector<CsvRow> rows;

  /// The column called `name`; throws Error that lists the columns found.
  [[nodiscard]] size_t column(std::string_view name) const;
  /// "file.csv:17", for messages.
  [[nodiscard]] std::string where(const CsvRow& row) const;
};

/// Reads a CSV (plain or gzip) whose cells are separated by commas, or as some spreadsheets write them by semicolons or
/// tabs: whichever its header has most. Bytes that are not UTF-8 are taken as they are, with one warning for the file.
/// Throws Error with file and line when a row has another number of cells than the header or a quote is not closed, and
/// for UTF-16.
CsvTable read_csv(const std::filesystem::path& path);

/// One cell, quoted when it must be. A text that a spreadsheet would run as a formula ("=cmd|...", "+1", "-x", "@y") is
/// written behind an apostrophe, which read_csv takes away again.
std::string csv_cell(std::string_view text);

}  // namespace protocom
