#include "recognizer_renew.h"

#include "dataset_options.h"
#include "made_recognizer.h"
#include "recognizer/expected_accuracy.h"
#include "recognizer/recognizer.h"
#include "recognizer/renew_recognizer.h"
#include "recognizer_views.h"

namespace protocom::cli {
namespace {

struct RenewCommand {
  std::string file, out;
  bool external_backbone = false;
  RenewalParts renewal;
};

/// Returns "expected accuracy ..." of a recognizer; nothing if it has too few photos.
std::string accuracy_before(const std::string& file) {
  return sentence_of(open_to_read(file).expected_accuracy(), "the former encoder");
}

/// Returns that of the recognizer made from these parts.
std::string accuracy_of(const std::string& file, const RecognizerParts& parts) {
  Recognizer recognizer = open_to_read(file);
  return expected_sentence(recognizer, parts);
}

void run_renew(const CLI::App& command, RenewCommand options) {
  const std::string out = options.out.empty() ? options.file : options.out;
  check_writable(out);
  RecognizerParts& parts = options.renewal.parts;
  parts.backbone_inside = !options.external_backbone;
  const std::string before = accuracy_before(options.file);
  const Renewal done =
      renew_recognizer(options.file, out, options.renewal, provenance_of(command, /*seed=*/0), progress());
  fmt::print("{}: {} photos have features of {} numbers, before {}\n", out, done.photos, done.feature_dim,
             done.former_dim);
  if (done.forgotten > 0) fmt::print("{} removed photos were not found: undo cannot restore them\n", done.forgotten);
  fmt::print("before: {}\nnow:    {}\n", before, accuracy_of(out, parts));
}

}  // namespace

void add_renew(CLI::App& parent) {
  auto options = std::make_shared<RenewCommand>();
  RecognizerParts& parts = options->renewal.parts;
  CLI::App* command =
      add_command(parent, "renew", "Give a recognizer another encoder; it keeps its classes and history",
                  "protocom recognizer renew mine.pcm --backbone dinov2-small\n"
                  "  protocom recognizer renew mine.pcm --backbone encoder.onnx --images my-photos "
                  "--out better.pcm");
  add_input_option(*command, "recognizer", options->file, "Recognizer")->required();
  add_input_option(*command, "--backbone", parts.backbone, kBackboneHelp);
  command->add_option("--preprocess", parts.preprocessing, kPreprocessHelp);
  command->add_option("--output", parts.output, kOutputHelp);
  command->add_option("--images", options->renewal.images,
                      "Folders to search for its photos, by content; default: where they were enrolled from");
  add_output_option(*command, "--out", options->out, "Recognizer to write; default: replace the old one");
  CLI::Option* fitted = add_input_option(*command, "--fitted", parts.fitted,
                                         "Method fitted on base classes with the new encoder (protocom fit)");
  add_input_option(*command, "--model", parts.model, "Completion model of the new encoder (protocom complete)")
      ->excludes(fitted);
  add_input_option(*command, "--space", parts.space,
                   "Method fitted on any classes with the new encoder: its space is adapted to yours")
      ->excludes(fitted);
  command->add_flag("--external-backbone", options->external_backbone,
                    "The backbone stays outside and is found by its hash, beside the recognizer or where it is now");
  add_device(*command, parts.device);
  command->callback([command, options] { run_renew(*command, *options); });
}

}  // namespace protocom::cli
