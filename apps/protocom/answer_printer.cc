#include "answer_printer.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli.h"
#include "protocom/core/csv.h"
#include "protocom/core/printed_json.h"
#include "protocom/core/text.h"
#include "protocom/serve/answer_json.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

std::string texts_of(const std::vector<TellingAttribute>& attributes, const char* between) {
  std::vector<std::string> texts;
  for (const TellingAttribute& attribute : attributes)
    texts.push_back(fmt::format("{} {:+.2f}", attribute.words, attribute.effect));
  return fmt::format("{}", fmt::join(texts, between));
}

std::string texts_of(const std::vector<NearExample>& nearest) {
  std::vector<std::string> texts;
  for (const NearExample& example : nearest)
    texts.push_back(fmt::format("{} ({} {:.3f})", example.source, example.class_name, example.similarity));
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// A row for each class that is shown; what is said of the first class and of the image stands in its row alone.
void print_csv(const fs::path& image, const Answer& answer) {
  const char* none = !answer.none_of_these ? "" : *answer.none_of_these ? "1" : "0";
  const std::string chance = answer.none ? fmt::format("{:.6f}", *answer.none) : "";
  for (size_t r = 0; r < answer.ranking.size(); ++r) {
    fmt::print("{},{},{},{:.6f},{},{:.6f},{},{},{},{}\n", csv_cell(image.string()), r + 1,
               csv_cell(answer.ranking[r].name), answer.ranking[r].probability, none, answer.familiarity,
               r == 0 ? csv_cell(texts_of(answer.attributes, "; ")) : "",
               r == 0 ? csv_cell(texts_of(answer.nearest)) : "", chance, r == 0 ? csv_cell(answer.nearest_note) : "");
  }
}

}  // namespace

AnswerPrinter::AnswerPrinter(Recognizer& recognizer, const std::string& format)
    : recognizer_(recognizer), format_(format) {
  if (format_ == "csv")
    fmt::print("image,rank,class,probability,none_of_these,familiarity,attributes,nearest,none,nearest_note\n");
}

void AnswerPrinter::print(const fs::path& image, const Answer& answer) {
  if (format_ == "table") return add_row(image, answer);
  format_ == "csv" ? print_csv(image, answer) : print_json(image, answer);
  std::fflush(stdout);  // whoever reads the lines need not wait for the next image
}

void AnswerPrinter::finish() {
  if (format_ != "table") return;
  if (!shows_attributes_) {  // no answer had any
    for (std::vector<std::string>& row : rows_) row.pop_back();
  }
  print_table(rows_);
  for (const std::string& note : notes_) fmt::print("{}\n", note);
}

void AnswerPrinter::print_json(const fs::path& image, const Answer& answer) {
  json line = answer_json(answer);
  line["image"] = image.string();
  line["mode"] = recognizer_.method().spec().mode();
  // File names need not be UTF-8.
  fmt::print("{}\n", printed_json(line));
}

void AnswerPrinter::add_row(const fs::path& image, const Answer& answer) {
  std::vector<std::pair<std::string, double>> said;
  for (const RankedClass& ranked_class : answer.ranking) said.emplace_back(ranked_class.name, ranked_class.probability);
  said.front().first = label(said.front().first);
  if (answer.none) {
    const auto less = [&](const auto& item) { return item.second < *answer.none; };
    const bool first = answer.none_of_these.value_or(false);
    said.emplace(first ? said.begin() : std::find_if(said.begin() + 1, said.end(), less), kNoneOfThese, *answer.none);
  }
  // One runner-up, and none that is not worth a line: wider tables do not fit a terminal. JSON and CSV have them all.
  constexpr double kShown = 0.0005;
  const bool follows = said.size() > 1 && said[1].second >= kShown;
  const bool near = !answer.nearest.empty();
  rows_.push_back({image.string(), said.front().first, fmt::format("{:.3f}", said.front().second),
                   follows ? fmt::format("{} {:.3f}", said[1].first, said[1].second) : "",
                   near ? answer.nearest.front().source : "", texts_of(answer.attributes, ", ")});
  shows_attributes_ |= !answer.attributes.empty();
  if (!answer.nearest_note.empty() && !answer.none_of_these.value_or(false))
    notes_.push_back(fmt::format("{}: {}", image.string(), answer.nearest_note));
}

/// "n01768244 (trilobite)"
std::string AnswerPrinter::label(const std::string& name) {
  const auto entry = recognizer_.file().find_class(name);
  return entry ? name_and_word(name, entry->description.title) : name;
}

}  // namespace protocom::cli
