#include "made_recognizer.h"

#include "cli.h"
#include "encoders/encoder.h"
#include "encoders/installed_encoders.h"
#include "enrol_report.h"
#include "label_check_printer.h"

namespace protocom::cli {
namespace {

/// Describes what the recognizer uses besides the classes' own photos.
std::string describe_basis(const RecognizerParts& parts) {
  if (!parts.fitted.empty() || !parts.model.empty()) return "with base classes";
  const bool space = !parts.space.empty() || !space_beside(find_encoder(parts.backbone)).empty();
  return space ? "a space of other classes" : "no base classes";
}

/// Describes which images a new recognizer answers "none of these" for.
std::string none_of_these_line(const std::optional<Calibration>& calibration) {
  if (!calibration) return "Too few photos for 'none of these': every photo gets one of the classes.";
  if (calibration->similar)
    return fmt::format("The threshold of 'none of these' was set with {} photos of other things: {}.",
                       calibration->unknown, cost_sentence(*calibration, "the others"));
  return fmt::format(
      "The answer is 'none of these' for most photos of quite different things, and for at most 5 of 100 photos of "
      "your "
      "classes{}.",
      calibration->images > 0 ? "" : " (estimated on held-out classes)");
}

int64_t images_of(const Recognizer& recognizer) {
  int64_t images = 0;
  for (const ClassInfo& entry : recognizer.file().list_classes()) images += entry.images;
  return images;
}

}  // namespace

void print_made(const std::string& file, const RecognizerParts& parts, const Enrolment& enrolled) {
  print_enrolment(enrolled);
  Recognizer made = Recognizer::open(file);
  fmt::print("{}\n{}\n", expected_sentence(made, parts), none_of_these_line(made.calibration()));
  constexpr size_t kMostFindings = 10;
  if (images_of(made) <= kMostCheckedUnasked) print_label_check(made.check_labels(progress()), kMostFindings);
}

std::string expected_sentence(Recognizer& recognizer, const RecognizerParts& parts) {
  return sentence_of(recognizer.expected_accuracy(), describe_basis(parts));
}

}  // namespace protocom::cli
