#include "answer_csv.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "images/image_region.h"
#include "io/csv.h"
#include "recognizer/answer_fields.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

std::string words_of(const std::vector<NearImage>& nearest) {
  std::vector<std::string> texts;
  for (const NearImage& example : nearest)
    texts.push_back(fmt::format("{} ({} {:.3f})", example.source, example.class_name, example.similarity));
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// Returns each of answer_fields() after a comma.
std::string field_cells(const Answer& answer) {
  std::string cells;
  for (const AnswerField& field : answer_fields()) cells += "," + csv_value(field, answer);
  return cells;
}

std::string set_cell(const AnswerCsv& csv, const Answer& answer) {
  return csv.sets ? "," + csv_cell(fmt::format("{}", fmt::join(answer.set, "; "))) : "";
}

std::string group_cells(const AnswerCsv& csv, const Answer& answer) {
  if (!csv.groups) return "";
  return answer.group ? fmt::format(",{},{:.6f}", csv_cell(answer.group->name), answer.group->probability) : ",,";
}

std::string box_cells(const ImageRegion& region) {
  if (!region.box) return ",,,,";
  const ImageBox& box = *region.box;
  return fmt::format(",{:.6g},{:.6g},{:.6g},{:.6g}", box.x, box.y, box.width, box.height);
}

/// Returns the columns of the image's source, and the end of the row.
std::string source_cells(const AnswerCsv& csv, const ImageRegion& region, int64_t series) {
  return (csv.boxes ? box_cells(region) : "") + (csv.series ? fmt::format(",{}", series) : "") + "\n";
}

std::string wide_row(const AnswerCsv& csv, const ImageRegion& region, const Answer& answer, int64_t series) {
  const auto ranking = ranking_with_none(answer);
  std::string row = csv_cell(region.file.string());
  for (size_t i = 0; i < csv.classes; ++i)
    row += i < ranking.size() ? fmt::format(",{},{:.6f}", csv_cell(ranking[i].first), ranking[i].second) : ",,";
  row += field_cells(answer) + "," + csv_cell(attribute_words(answer.attributes, "; ")) + "," +
         csv_cell(words_of(answer.nearest));
  return row + set_cell(csv, answer) + group_cells(csv, answer) + source_cells(csv, region, series);
}

std::string long_rows(const AnswerCsv& csv, const ImageRegion& region, const Answer& answer, int64_t series) {
  std::string rows;
  const std::string fields = field_cells(answer), groups = group_cells(csv, answer);
  for (size_t r = 0; r < answer.ranking.size(); ++r) {
    const bool first = r == 0;
    rows += fmt::format("{},{},{},{:.6f}{},{},{}{}{}{}", csv_cell(region.file.string()), r + 1,
                        csv_cell(answer.ranking[r].name), answer.ranking[r].probability, fields,
                        first ? csv_cell(attribute_words(answer.attributes, "; ")) : "",
                        first ? csv_cell(words_of(answer.nearest)) : "",
                        first || !csv.sets ? set_cell(csv, answer) : ",", groups, source_cells(csv, region, series));
  }
  return rows;
}

/// Returns a row for Timelapse, which runs on Windows: its paths have backslashes.
std::string timelapse_row(const AnswerCsv& csv, const fs::path& image, const Answer& answer) {
  const fs::path folder = fs::absolute(image).lexically_normal().parent_path().lexically_relative(
      fs::absolute(csv.root / "").lexically_normal().parent_path());
  const std::string within = folder == "." ? "" : replaced(folder.generic_string(), "/", "\\");
  const auto [name, probability] = ranking_with_group(answer).front();
  return fmt::format("{},{},{},{:.6f}\n", csv_cell(image.filename().string()), csv_cell(within), csv_cell(name),
                     probability);
}

}  // namespace

std::string attribute_words(const std::vector<AttributeEffect>& attributes, const char* between) {
  std::vector<std::string> texts;
  for (const AttributeEffect& attribute : attributes)
    texts.push_back(fmt::format("{} {:+.2f}", attribute.words, attribute.effect));
  return fmt::format("{}", fmt::join(texts, between));
}

std::vector<std::pair<std::string, double>> ranking_with_none(const Answer& answer) {
  std::vector<std::pair<std::string, double>> ranking;
  for (const RankedClass& one : answer.ranking) ranking.emplace_back(one.name, one.probability);
  if (!answer.none) return ranking;
  const auto less = [&](const auto& item) { return item.second < *answer.none; };
  const bool first = answer.none_of_these.value_or(false);
  const auto after = ranking.empty() ? ranking.begin() : ranking.begin() + 1;
  ranking.emplace(first ? ranking.begin() : std::find_if(after, ranking.end(), less), kNoneOfThese, *answer.none);
  return ranking;
}

std::vector<std::pair<std::string, double>> ranking_with_group(const Answer& answer) {
  auto ranking = ranking_with_none(answer);
  if (answer.group) ranking.emplace(ranking.begin(), answer.group->name, answer.group->probability);
  return ranking;
}

bool AnswerCsv::is_format(const std::string& format) {
  const auto all = formats();
  return std::find(all.begin(), all.end(), format) != all.end();
}

std::string AnswerCsv::header() const {
  if (format == "timelapse") return "File,RelativePath,class,probability\n";
  std::string names = "image,rank,class,probability";
  if (format == "csv") {
    names = "image,class,probability";
    for (size_t i = 2; i <= classes; ++i) names += fmt::format(",class_{0},probability_{0}", i);
  }
  for (const AnswerField& field : answer_fields()) names += fmt::format(",{}", field.name);
  return names + ",attributes,nearest" + (sets ? ",set" : "") + (groups ? ",group,group_probability" : "") +
         (boxes ? ",x,y,width,height" : "") + (series ? ",series" : "") + "\n";
}

std::string AnswerCsv::rows(const fs::path& image, const Answer& answer, int64_t number) const {
  if (format == "timelapse") return timelapse_row(*this, image, answer);
  const ImageRegion region = boxes ? region_of(image) : ImageRegion{image};
  return format == "csv" ? wide_row(*this, region, answer, number) : long_rows(*this, region, answer, number);
}

}  // namespace protocom::cli
