#include "answer_printer.h"
#include "base/printed_json.h"
#include "cli.h"
#include "image_arguments.h"
#include "io/csv.h"
#include "recognizer/results_json.h"
#include "recognizer/suggest_photos.h"
#include "standard_streams.h"

namespace protocom::cli {
namespace {

struct SuggestArguments {
  std::string recognizer, format = "table";
  std::vector<std::string> images;
  int64_t count = 20;
  RecognizerOptions recognizing;
};

void print_suggested_table(const Suggestions& found) {
  const std::vector<TerminalColumn> columns = {
      {"photo", 18, true}, {"class", 12}, {"probability", 11, false, true}, {"runner-up", 12, false, false, 1}};
  std::vector<std::vector<TerminalCell>> rows;
  for (const Suggestion& one : found.images)
    rows.push_back({{one.image},
                    {one.answer, Tone::kStrong},
                    {fmt::format("{:.3f}", one.probability), confidence_tone(one.probability)},
                    {one.runner_up, Tone::kFaint}});
  print_coloured(terminal_table(columns, rows, results_terminal()));
}

void print_suggested_csv(const Suggestions& found) {
  fmt::print("image,class,probability,runner_up,doubt,share\n");
  for (const Suggestion& one : found.images)
    fmt::print("{},{},{:.6f},{},{:.6f},{:.6f}\n", csv_cell(one.image), csv_cell(one.answer), one.probability,
               csv_cell(one.runner_up), one.doubt, one.share);
}

void print_suggested(const SuggestArguments& options, const Suggestions& found) {
  if (options.format == "json") return fmt::print("{}\n", printed_json(suggestions_json(found), 2));
  if (options.format == "csv") return print_suggested_csv(found);
  if (options.format == "table") return print_suggested_table(found);
  for (const Suggestion& one : found.images) fmt::print("{}\n", one.image);
}

void run_suggest(const SuggestArguments& options) {
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  const FoundImages found = find_images(with_listed(options.images));
  const Suggestions made = suggest(recognizer, found.paths, options.count, progress());
  print_suggested(options, made);
  logger().info("{} photos examined, {} already enrolled", made.looked_at, made.already_enrolled);
  account_for(found, made.unreadable);
}

void add_suggest_command(CLI::App& app) {
  auto options = std::make_shared<SuggestArguments>();
  options->recognizing.use = FileUse::kRead;
  options->recognizing.nearest = 0;
  CLI::App* command = add_command(app, "suggest", "Which unlabelled photos to label next",
                                  "protocom suggest birds.pcm unsorted/ --count 20\n"
                                  "protocom suggest birds.pcm unsorted/ --format paths | xargs -d '\\n' cp -t next/");
  add_input_option(*command, "recognizer", options->recognizer, "Recognizer")->required();
  add_input_option(*command, "images", options->images,
                   "Images, or folders with their subfolders; -: their names are read from the standard input")
      ->required();
  command->add_option("--count", options->count, "How many")->check(at_least(1));
  command
      ->add_option("--format", options->format,
                   "table, json, csv, or paths (a line each); the most useful photo first. doubt: 1 minus the "
                   "difference of the two "
                   "highest probabilities; share: of the doubt about all photos")
      ->check(CLI::IsMember({"table", "json", "csv", "paths"}));
  add_batch(*command, options->recognizing.batch);
  add_device(*command, options->recognizing.device);
  command->callback([options] { run_suggest(*options); });
}

const Command kSuggest{Group::kOwnPhotos, 66, &add_suggest_command};

}  // namespace
}  // namespace protocom::cli
