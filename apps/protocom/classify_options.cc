#include "classify_options.h"

#include <utility>

#include "answer_printer.h"
#include "base/error.h"
#include "box_answers.h"
#include "cli.h"
#include "file_options.h"
#include "recognizer/class_groups.h"
#include "shared_work.h"

namespace protocom::cli {
namespace {

/// Parses "cat=0.5" into "cat", 0.5.
std::pair<std::string, double> share_in(const std::string& text) {
  const size_t sign = text.rfind('=');
  const std::string number = sign == std::string::npos ? "" : text.substr(sign + 1);
  double share = 0;
  if (sign == std::string::npos || sign == 0 || !CLI::detail::lexical_cast(number, share))
    fail_usage("--shares {}: expected a class and its share, as in cat=0.5", text);
  return {text.substr(0, sign), share};
}

}  // namespace

void add_method_options(CLI::App& command, ClassifyArguments& options) {
  CLI::Option* method =
      command.add_option("--method", options.recognizing.method,
                         "Method with its parameters, see protocom methods: mean-fusion:gamma=20; default: the "
                         "recognizer's fitted method, or that of its completion model");
  command
      .add_flag("--batch-together", options.recognizing.together,
                "Use the transductive method (plda-vb with a fitted plda, else gauss-fusion), which classifies all "
                "images together; default: each independently")
      ->excludes(method);
  command
      .add_option("--proportions", options.recognizing.proportions,
                  "Class proportions that --batch-together assumes: estimate, balanced, or given (by --shares); for "
                  "plda; implies --batch-together")
      ->check(CLI::IsMember({"estimate", "balanced", "given"}))
      ->excludes(method);
  add_list_option(command, "--shares", options.shares,
                  "Shares of the classes among the images, cat=0.5,dog=0.3; the others share the rest equally")
      ->allow_extra_args(false)
      ->excludes(method);
}

void add_format_options(CLI::App& command, ClassifyArguments& options) {
  std::vector<std::string> formats = AnswerPrinter::formats();
  for (const char* format : {"timelapse", "xmp"}) formats.emplace_back(format);
  for (const std::string& format : BoxAnswers::formats()) formats.push_back(format);
  command
      .add_option("--format", options.format,
                  "table, json (an object per line), csv (a row per image), csv-long (a row per image and class), "
                  "timelapse (its CSV); xmp: keywords in sidecars beside the photos; megadetector or coco: the JSON "
                  "of --boxes with the classes")
      ->check(CLI::IsMember(formats));
  add_output_option(command, "--out", options.out,
                    "File for the answers instead of printing: CSV as --format says, the JSON of --boxes, otherwise "
                    "JSON lines; several processes may share that work (docs/scaling.md)");
  add_resume(command, options.resume, "--out");
  add_output_option(command, "--features-out", options.features_out,
                    "Also write the features of the images as extract does (npz), with their paths; labels: the first "
                    "class of each answer");
}

void add_series_options(CLI::App& command, ClassifyArguments& options) {
  CLI::Option* series = command.add_option(
      "--series", options.series,
      "One answer for the photos of a burst, a video or a visit to a camera trap: time (by EXIF, within "
      "a folder), folder, or a CSV with a column of images and the column that names the series "
      "(visits.csv:visit); csv and json repeat the answer for each photo, with the number of its series");
  command.add_option("--series-gap", options.series_gap, "A series ends after this many seconds without a photo")
      ->check(CLI::Range(0.001, 86400.0))
      ->needs(series);
}

void add_answer_options(CLI::App& command, ClassifyArguments& options) {
  CLI::Option* coverage =
      command
          .add_option("--coverage", options.recognizing.coverage,
                      "Also print a set of classes that contains the right one for this share of new photos (0.9), by "
                      "leave-one-out")
          ->check(CLI::Range(0.001, 0.999));
  CLI::Option* roll_up = command
                             .add_option("--roll-up", options.recognizing.roll_up,
                                         "If the first class is less probable than this (0.9), answer the smallest "
                                         "group that reaches it; groups: --groups, else the levels of titles or names "
                                         "(animals/birds/robin)")
                             ->check(CLI::Range(0.001, 0.999));
  add_input_option(command, "--groups", options.groups,
                   "CSV with the columns class and group (or taxonomy: animals/birds, animals;birds), for --roll-up")
      ->needs(roll_up);
  CLI::Option* top = command.add_option("--top", options.recognizing.top, "How many classes to show for each image")
                         ->check(at_least(1));
  CLI::Option* nearest =
      command
          .add_option("--nearest", options.recognizing.nearest, "How many of the most similar enrolled images to show")
          ->check(at_least(0));
  CLI::Option* attributes =
      command
          .add_option("--attributes", options.recognizing.attributes,
                      "How many attributes to show that changed the first class's score most (plda, mean-fusion)")
          ->check(at_least(0));
  CLI::Option* explain = command.add_flag(
      "--explain", options.explain,
      "Show which part of each image made its answer, the first class: a map of 7 x 7 patches, each covered once");
  for (CLI::Option* unused : {coverage, roll_up, top, nearest, attributes}) explain->excludes(unused);
}

void take_groups(ClassifyArguments& options) {
  if (!options.groups.empty()) options.recognizing.groups = read_class_groups(options.groups);
}

void take_shares(ClassifyArguments& options) {
  for (const std::string& word : options.shares) {
    const auto share = share_in(word);
    if (!options.recognizing.shares.insert(share).second) fail_usage("--shares: duplicate class '{}'", share.first);
  }
}

}  // namespace protocom::cli
