#include "made_recognizer.h"

#include "cli.h"
#include "encoders/encoder.h"
#include "encoders/installed_encoders.h"
#include "enrol_report.h"

namespace protocom::cli {
namespace {

/// What the classes are told apart with, besides their own photos.
std::string basis_of(const RecognizerParts& parts) {
  if (!parts.fitted.empty() || !parts.model.empty()) return "with base classes";
  const bool space = !parts.space.empty() || !space_beside(find_encoder(parts.backbone)).empty();
  return space ? "a space of other classes" : "no base classes";
}

}  // namespace

void print_made(const std::string& file, const RecognizerParts& parts, const Enrolment& enrolled) {
  print_enrolment(enrolled);
  fmt::print("{}\n", expected_sentence(Recognizer::open(file), parts));
}

std::string expected_sentence(Recognizer recognizer, const RecognizerParts& parts) {
  return sentence_of(recognizer.expected_accuracy(), basis_of(parts));
}

}  // namespace protocom::cli
