#include <algorithm>
#include <set>

#include "cli.h"
#include "io/json.h"
#include "report/analysis_sections.h"
#include "report/html_report.h"

namespace protocom::cli {
namespace {

struct ReportArguments {
  std::vector<std::string> results, images, captions;
  std::string out;
  ReportOptions report;
};

/// Reads the analyses of a folder; unknown ones come last, sorted by name.
std::vector<AnalysisFile> read_analyses(const std::filesystem::path& folder) {
  std::vector<AnalysisFile> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const nlohmann::json parsed = read_json(entry.path());
    // Other files may lie beside them: the results themselves, for instance.
    if (parsed.is_object() && parsed.contains("analysis"))
      found.push_back(parse_analysis(parsed, entry.path().string()));
  }
  if (found.empty()) fail("{}: no analysis in this folder: give the --out of `protocom analyse`", folder.string());
  const auto& order = section_names();
  const auto place = [&](const AnalysisFile& file) {
    return std::pair(std::find(order.begin(), order.end(), file.section.name), file.section.name);
  };
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return found;
}

/// Sorts the inputs into evaluations and analyses, by their content.
void read_inputs(const ReportArguments& options, std::vector<Evaluation>& evaluations,
                 std::vector<AnalysisFile>& analyses) {
  for (const std::string& path : options.results) {
    if (std::filesystem::is_directory(path)) {
      for (AnalysisFile& file : read_analyses(path)) analyses.push_back(std::move(file));
      continue;
    }
    const nlohmann::json parsed = read_json(path);
    if (parsed.is_object() && parsed.contains("analysis")) {
      analyses.push_back(parse_analysis(parsed, path));
    } else {
      evaluations.push_back(parse_evaluation(parsed, path));
    }
  }
}

/// Prints all accuracies side by side, then a line for each evaluation.
void print_findings(const std::vector<Evaluation>& evaluations) {
  if (evaluations.empty()) return;
  const ReportTable table = comparison_table(evaluations);
  std::vector<std::vector<std::string>> rows = {table.columns};
  for (std::vector<std::string> row : table.rows) {
    std::replace(row.front().begin(), row.front().end(), '\n', ' ');
    rows.push_back(std::move(row));
  }
  print_table(rows);
  fmt::print("\n");
  std::set<std::string> datasets;
  for (const Evaluation& evaluation : evaluations) datasets.insert(evaluation.dataset_name());
  for (const Evaluation& evaluation : evaluations) {
    const std::string of_what = datasets.size() > 1 ? evaluation.dataset_name() + ": " : "";
    fmt::print("{}{}\n", of_what, headline(evaluation));
    for (const std::string& line : knowledge_findings(evaluation)) fmt::print("{}{}\n", of_what, one_line(line));
  }
}

void run_report(ReportArguments& options) {
  if (options.captions.size() > options.images.size()) {
    fail_usage("{} captions for {} images: give --caption after its --image", options.captions.size(),
               options.images.size());
  }
  check_writable(options.out);
  std::vector<Evaluation> evaluations;
  read_inputs(options, evaluations, options.report.analyses);
  for (size_t i = 0; i < options.images.size(); ++i) {
    const std::string caption = i < options.captions.size() ? options.captions[i] : "";
    options.report.pictures.push_back({read_file(options.images[i]), caption, options.images[i]});
  }
  write_file(options.out, html_report(evaluations, options.report));
  print_findings(evaluations);
  fmt::print("{}\n", options.out);
}

void add_report_command(CLI::App& app) {
  auto options = std::make_shared<ReportArguments>();
  CLI::App* command = add_command(
      app, "report", "One HTML page from the results of evaluate and analyse",
      "protocom report result.json analysis --out report.html\n"
      "protocom report result.json --image creatures.png --caption \"Ten novel classes\" --out report.html");
  add_input_option(*command, "results", options->results, "Results of evaluate --json, and folders of analyse")
      ->required();
  command->add_option("--title", options->report.title, "Title of the page");
  add_input_option(*command, "--image", options->images, "A picture to show (PNG, JPEG, WebP); repeatable")
      ->expected(1)
      ->take_all();
  command->add_option("--caption", options->captions, "Caption of an --image, in the same order; repeatable")
      ->expected(1)
      ->take_all();
  add_output_option(*command, "--out", options->out, "HTML file to write")->required();
  command->callback([options] { run_report(*options); });
}

const Command kReport{Group::kMeasuring, 40, &add_report_command};

}  // namespace
}  // namespace protocom::cli
