#include "answer_printer.h"

#include <algorithm>
#include <cstdio>

#include "base/printed_json.h"
#include "base/text.h"
#include "cli.h"
#include "images/image_region.h"
#include "recognizer/results_json.h"
#include "standard_streams.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr size_t kAlwaysShown = 3;

/// Returns the columns of the table. In a narrow terminal the column with the highest number is dropped first.
std::vector<TerminalColumn> columns() {
  return {{"image", 18, true},
          {"class", 12},
          {"probability", 11, false, true},
          {"one of", 14},
          {"also possible", 14, false, false, 1},
          {"nearest photo", 22, true, false, 3},
          {"attributes", 17, false, false, 2}};
}

/// Returns the common folder of the images' names, with its slash; "" for a single image.
std::string common_folder(const std::vector<std::vector<TerminalCell>>& rows) {
  if (rows.size() < 2) return "";
  std::string common = rows.front().front().text;
  for (const auto& row : rows) {
    const std::string& name = row.front().text;
    const auto ends = std::mismatch(common.begin(), common.end(), name.begin(), name.end());
    common.erase(ends.first, common.end());
  }
  const size_t slash = common.rfind('/');
  return slash == std::string::npos ? "" : common.substr(0, slash + 1);
}

}  // namespace

Tone confidence_tone(double probability) {
  constexpr double kSure = 0.9;
  constexpr double kFair = 0.6;
  return probability >= kSure ? Tone::kGood : probability >= kFair ? Tone::kUnsure : Tone::kBad;
}

void print_at_once(std::string_view text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

AnswerPrinter::AnswerPrinter(Recognizer& recognizer, const AnswerCsv& format, Layout layout, WriteText write)
    : recognizer_(recognizer), format_(format), layout_(layout), write_(std::move(write)) {
  format_.sets = recognizer.options().coverage.has_value();
  format_.groups = recognizer.options().roll_up.has_value();
  if (!AnswerCsv::is_format(format_.format)) return;
  const size_t all = recognizer.class_names().size() + (recognizer.calibration() ? 1 : 0);
  format_.classes = std::min(all, static_cast<size_t>(recognizer.options().top));
  write_(format_.header());
}

void AnswerPrinter::print(const fs::path& image, const Answer& answer, int64_t series) {
  if (format_.format == "table") {
    add_row(image, answer);
    if (layout_ == Layout::kAsTheyCome) print_last_row();
    return;
  }
  if (AnswerCsv::is_format(format_.format))
    write_(format_.rows(image, answer, series));
  else
    write_(json_line(image, answer, recognizer_.method().spec().mode(), series) + "\n");
}

void AnswerPrinter::finish() {
  if (format_.format != "table" || layout_ == Layout::kAsTheyCome) return;
  auto shown = columns();
  const auto has = [&](size_t column) {
    return std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) { return !row[column].text.empty(); });
  };
  for (size_t c = shown.size(); c-- > kAlwaysShown;) {
    if (has(c)) continue;
    shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(c));
    for (auto& row : rows_) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
  const std::string folder = common_folder(rows_);
  for (auto& row : rows_) row.front().text.erase(0, folder.size());
  const ResultsTerminal terminal = results_terminal();
  if (!folder.empty()) fmt::print("in {}\n", cut_to(one_line(folder), terminal.width - 3, true));
  print_coloured(terminal_table(shown, rows_, terminal));
  constexpr size_t kMostNotes = 5;
  for (size_t i = 0; i < std::min(kMostNotes, notes_.size()); ++i)
    fmt::print("{}: {}\n", one_line(notes_[i].first.substr(folder.size())), one_line(notes_[i].second));
  if (notes_.size() > kMostNotes)
    fmt::print("{} more have a nearer photo of another class (--format json says which)\n", notes_.size() - kMostNotes);
}

void AnswerPrinter::print_last_row() {
  static const ResultsTerminal kTerminal = results_terminal();
  auto shown = columns();
  if (!titled_) {
    // The widths of later answers are unknown, but their columns are those of the first.
    widths_ = {36, 30, 11, 34, 34, 30, 40};
    for (size_t c = kAlwaysShown; c < shown.size(); ++c) {
      if (rows_.back()[c].text.empty()) shown[c].least = widths_[c] = 0;
    }
    widths_ = fitted_widths(shown, widths_, kTerminal.width);
    print_coloured(title_line(shown, widths_, kTerminal.coloured));
    titled_ = true;
  }
  print_coloured(table_line(shown, widths_, rows_.back(), kTerminal.coloured));
  rows_.clear();
  std::fflush(stdout);
}

std::string AnswerPrinter::json_line(const fs::path& image, const Answer& answer, std::string_view mode,
                                     int64_t series) {
  json line = answer_json(answer);
  const ImageRegion region = region_of(image);
  line["image"] = region.file.string();
  if (const std::optional<ImageBox>& box = region.box)
    line["box"] = {
        {"x", box->x}, {"y", box->y}, {"width", box->width}, {"height", box->height}, {"relative", box->relative}};
  line["mode"] = mode;
  if (series > 0) line["series"] = series;
  return printed_json(line);  // file names need not be UTF-8
}

void AnswerPrinter::add_row(const fs::path& image, const Answer& answer) {
  auto stated = ranking_with_none(answer);
  const bool none = answer.none_of_these.value_or(false);
  std::string& first_class = stated[none ? 1 : 0].first;
  first_class = label(first_class);
  if (answer.group) stated.emplace(stated.begin(), answer.group->name, answer.group->probability);
  // Shows one other class, or "none of these", if it is probable enough: JSON and CSV have all. "None of these" may be
  // more probable than the first class and yet below the half from which it is the answer.
  constexpr double kShown = 0.0005;
  const bool follows = stated.size() > 1 && stated[1].second >= kShown;
  const double sure = stated.front().second;
  rows_.push_back({{image.string()},
                   {stated.front().first, none ? Tone::kFaint : Tone::kStrong},
                   {fmt::format("{:.3f}", sure), confidence_tone(sure)},
                   {fmt::format("{}", fmt::join(answer.set, ", "))},
                   {follows ? fmt::format("{:.3f} {}", stated[1].second, stated[1].first) : "", Tone::kFaint},
                   {answer.nearest.empty() ? "" : answer.nearest.front().source, Tone::kFaint},
                   {attribute_words(answer.attributes, ", "), Tone::kFaint}});
  if (!answer.nearest_note.empty() && !none) notes_.emplace_back(image.string(), answer.nearest_note);
}

/// Returns "n01768244 (trilobite)".
std::string AnswerPrinter::label(const std::string& name) {
  const auto entry = recognizer_.file().find_class(name);
  return entry ? name_and_word(name, entry->title) : name;
}

}  // namespace protocom::cli
