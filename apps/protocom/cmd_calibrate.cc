#include "base/log.h"
#include "cli.h"
#include "image_arguments.h"
#include "recognizer/recognizer.h"

namespace protocom::cli {
namespace {

struct CalibrateArguments {
  std::string recognizer;
  std::vector<std::string> others;
  CalibrationOptions calibration;
  RecognizerOptions recognizing;
};

void run_calibrate(const CalibrateArguments& options) {
  Recognizer recognizer = Recognizer::open(options.recognizer, options.recognizing);
  FoundImages found;
  if (!options.others.empty()) found = find_images(with_listed(options.others));
  const std::optional<Calibration> before = recognizer.calibration();
  const std::optional<nlohmann::json> stored = recognizer.file().calibration();
  const std::string of_method = stored ? stored->value("method", "") : "";
  std::vector<UnreadableFile> unreadable;
  const Calibration made = recognizer.calibrate(found.paths, options.calibration, progress(), &unreadable);
  std::vector<std::vector<std::string>> rows = {
      {"method", made.method},
      {"images held out, one of each moment", std::to_string(made.images)},
      {"of them classified right", made.images > 0 ? fmt::format("{:.1f} %", 100 * made.accuracy) : "-"},
      {options.others.empty() ? "unknown images (each class left out)" : "unknown images",
       std::to_string(made.unknown)}};
  if (logger().writes(LogLevel::kDebug)) rows.push_back({"factor of the logits", fmt::format("{:.3f}", made.factor)});
  print_table(rows);
  const char* others = options.others.empty() ? "similar kinds" : "the others";
  fmt::print("By leave-one-out, {}.\n", cost_sentence(made, others));
  if (made.balanced) fmt::print("This threshold balances both rates; --false-accept sets that of {}.\n", others);
  if (!made.similar) fmt::print("This refuses quite different things; --similar refuses similar kinds too.\n");
  if (made.similar && !made.exchange.empty()) fmt::print("By leave-one-out, {}.\n", exchange_sentence(made));
  if (before && before->of_others && options.others.empty())
    logger().warn(
        "this replaces the threshold that was set with {} photos of other things; protocom undo {} restores it",
        before->unknown, options.recognizer);
  if (!of_method.empty() && of_method != made.method)
    logger().warn("'{}' has no threshold of 'none of these' any more: classify with --method {}, or protocom undo {}",
                  of_method, made.method, options.recognizer);
  const std::string warning = warning_of_few_kept(made);
  if (!warning.empty()) logger().warn("{}", warning);
  account_for(found, unreadable);
}

void add_calibrate_command(CLI::App& app) {
  auto options = std::make_shared<CalibrateArguments>();
  CLI::App* command = add_command(app, "calibrate", "Calibrate probabilities, and the threshold of 'none of these'",
                                  "protocom calibrate birds.pcm\n"
                                  "  protocom calibrate birds.pcm --similar\n"
                                  "  protocom calibrate birds.pcm --false-accept 0.05\n"
                                  "  protocom calibrate birds.pcm --others photos-of-no-birds/");
  add_input_option(*command, "recognizer", options->recognizer, "Recognizer")->required();
  CLI::Option* similar = command->add_flag(
      "--similar", options->calibration.similar,
      "Refuse similar kinds too: the threshold at which, by held-out classes, both error rates are "
      "estimated to be equal; default: only different kinds and at most 5 % of own images are refused");
  command
      ->add_option("--false-accept", options->calibration.false_accept,
                   "Share of images of similar kinds, or of --others, that may pass as one of the classes")
      ->excludes(similar);
  add_input_option(*command, "--others", options->others,
                   "Unknown images, or folders of them; default: held-out classes");
  command->add_option("--method", options->recognizing.method, "Method to calibrate; default: the recognizer's own");
  add_device(*command, options->recognizing.device);
  command->callback([options] { run_calibrate(*options); });
}

const Command kCalibrate{Group::kOwnPhotos, 60, &add_calibrate_command};

}  // namespace
}  // namespace protocom::cli
