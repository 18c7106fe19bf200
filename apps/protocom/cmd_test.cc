#include "base/printed_json.h"
#include "cli.h"
#include "dataset_options.h"
#include "image_arguments.h"
#include "recognizer/enrol_sources.h"
#include "recognizer/results_json.h"
#include "report/test_files.h"
#include "report/test_page.h"
#include "test_printer.h"

namespace protocom::cli {
namespace {

struct TestArguments {
  std::vector<std::string> given;  ///< one or two recognizers, then the photos
  std::string csv, html;
  bool as_json = false;
  int64_t worst = 10;
  RecognizerOptions recognizing;
  BoxChoice boxes;
  ListChoices lists;
};

// In the functions below, `both` is null if a single recognizer was tested.

void write_files(const TestArguments& options, const TestResult& first, const ComparedTests* both) {
  const TestResult* second = both != nullptr ? &both->second : nullptr;
  if (!options.csv.empty()) write_test_csv(options.csv, first, second);
  if (!options.html.empty()) write_test_page(options.html, first, second, std::max(TestPage().worst, options.worst));
}

nlohmann::json json_of(const TestResult& first, const ComparedTests* both) {
  if (both == nullptr) return test_json(first);
  return {{"first", test_json(first)},
          {"second", test_json(both->second)},
          {"comparison", comparison_json(both->comparison)}};
}

void print_result(const TestArguments& options, const TestResult& first, const ComparedTests* both) {
  if (options.as_json)
    fmt::print("{}\n", printed_json(json_of(first, both), 2));
  else if (both != nullptr)
    print_comparison(*both, options.worst);
  else
    print_test(first, options.worst);
}

/// Reports what was left out, last; unreadable images end in an error, as in other commands.
void account_for_images(const TestResult& result) {
  for (const UnreadableFile& file : result.unreadable) logger().error("{}", file.reason);
  if (result.skipped.total() > 0) logger().warn("{}", result.skipped.describe());
  const size_t folders = folders_among(result.unreadable), images = result.unreadable.size() - folders;
  if (images > 0) fail("{} of the images could not be read; images tested: {}", images, result.tested.size());
  if (folders > 0) fail("folders without readable images: {}", folders);
}

void report_test(const TestArguments& options, const TestResult& first, const ComparedTests* both) {
  write_files(options, first, both);
  print_result(options, first, both);
  account_for_images(first);
}

void run_test(const TestArguments& options) {
  constexpr size_t kMost = 3;
  if (options.given.size() < 2 || options.given.size() > kMost)
    fail_usage("expected one or two recognizers, then labelled photos; found {} arguments", options.given.size());
  for (const std::string& file : {options.csv, options.html}) {
    if (!file.empty()) check_writable(file);
  }
  Recognizer first = Recognizer::open(options.given.front(), options.recognizing);
  EnrolSources sources = sources_at(options.given.back());
  sources.boxes = options.boxes;
  sources.lists = options.lists;
  const std::vector<EnrolRequest> photos = labelled_images(sources, first.file());
  if (options.given.size() < kMost) return report_test(options, test_recognizer(first, photos, progress()), nullptr);
  Recognizer second = Recognizer::open(options.given[1], options.recognizing);
  const ComparedTests both = compare_recognizers(first, second, photos, progress());
  report_test(options, both.first, &both);
}

void add_test_command(CLI::App& app) {
  auto options = std::make_shared<TestArguments>();
  options->recognizing.use = FileUse::kRead;
  options->recognizing.nearest = 0;
  CLI::App* command = add_command(app, "test", "Measure a recognizer on labelled photos that are not enrolled",
                                  "protocom test birds.pcm labelled/ --html test.html\n"
                                  "protocom test birds.pcm calibrated.pcm labelled.csv --csv photos.csv");
  add_input_option(*command, "recognizer", options->given,
                   "Recognizer, or two to compare, then the labelled photos: a folder with a subfolder for each class "
                   "or a list in it, a list (CSV, JSON), or a file of features")
      ->required();
  add_box_options(*command, options->boxes);
  add_list_choices(*command, options->lists);
  command->add_flag("--json", options->as_json, "All figures and answers as JSON");
  add_output_option(*command, "--csv", options->csv, "Also write the answers, a row per photo");
  add_output_option(*command, "--html", options->html,
                    "Also write a page: classes, confusion matrix, reliability, the worst answers with their photos");
  command->add_option("--worst", options->worst, "How many of the most confident wrong answers to show")
      ->check(at_least(0));
  CLI::Option* method =
      command->add_option("--method", options->recognizing.method,
                          "Method with its parameters, see protocom methods; otherwise the recognizer's own");
  command
      ->add_flag("--batch-together", options->recognizing.together,
                 "Use the transductive method, which classifies all photos together")
      ->excludes(method);
  add_batch(*command, options->recognizing.batch);
  add_device(*command, options->recognizing.device);
  command->callback([options] { run_test(*options); });
}

const Command kTest{Group::kOwnPhotos, 65, &add_test_command};

}  // namespace
}  // namespace protocom::cli
