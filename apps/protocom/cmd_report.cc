#include "cli.h"
#include "protocom/report/html_report.h"

namespace protocom::cli {
namespace {

struct Options {
  std::vector<std::string> results, images, captions;
  std::string out;
  ReportOptions report;
};

Evaluation read_evaluation(const std::string& path) {
  const nlohmann::json parsed = nlohmann::json::parse(read_file(path), nullptr, false);
  if (parsed.is_discarded()) fail("{} is not valid JSON: give what `protocom evaluate --json` wrote", path);
  return parse_evaluation(parsed, path);
}

void run_report(Options& options) {
  if (options.captions.size() > options.images.size()) {
    fail_usage("{} captions for {} images: give --caption after its --image", options.captions.size(),
               options.images.size());
  }
  check_writable(options.out);
  std::vector<Evaluation> evaluations;
  for (const std::string& path : options.results) evaluations.push_back(read_evaluation(path));
  for (size_t i = 0; i < options.images.size(); ++i) {
    const std::string caption = i < options.captions.size() ? options.captions[i] : "";
    options.report.pictures.push_back({read_file(options.images[i]), caption, options.images[i]});
  }
  write_file(options.out, html_report(evaluations, options.report));
  for (const Evaluation& evaluation : evaluations) fmt::print("{}\n", headline(evaluation));
  fmt::print("{}\n", options.out);
}

void add_report_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app, "report", "One HTML page from the results of evaluate",
      "protocom report result.json --image creatures.png --caption \"Ten novel classes\" --out report.html");
  command->add_option("results", options->results, "What evaluate --json wrote; several files make several sections")
      ->required();
  command->add_option("--title", options->report.title, "Title of the page");
  command->add_option("--image", options->images, "A picture to show (PNG, JPEG, WebP); repeatable")
      ->expected(1)
      ->take_all();
  command->add_option("--caption", options->captions, "Its caption, in the same order; repeatable")
      ->expected(1)
      ->take_all();
  command->add_option("--out", options->out, "HTML file to write")->required();
  command->callback([options] { run_report(*options); });
}

const Command kRegister{Order::kReport, &add_report_command};

}  // namespace
}  // namespace protocom::cli
