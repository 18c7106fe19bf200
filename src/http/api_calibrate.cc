#include "base/json_text.h"
#include "http/detail/api.h"
#include "http/detail/exclusive_job.h"
#include "http/detail/multipart.h"

namespace protocom::http {
namespace {

using nlohmann::json;

double parse_false_accept(const json& value) {
  if (!value.is_number()) refuse(400, "'false_accept': expected a number");
  const double rate = value.get<double>();
  if (!(rate > 0 && rate < 1)) refuse(400, "'false_accept': expected a number between 0 and 1");
  return rate;
}

bool parse_similar(const json& value) {
  if (!value.is_boolean()) refuse(400, "'similar': expected true or false");
  return value.get<bool>();
}

/// What is requested: a rate, or similar kinds too.
CalibrationOptions options_of(const json& members) {
  CalibrationOptions options;
  if (members.contains("false_accept")) options.false_accept = parse_false_accept(members["false_accept"]);
  if (members.contains("similar")) options.similar = parse_similar(members["similar"]);
  return options;
}

/// The fields of a form, numbers, true and false as such.
json members_of(const Sent& form) {
  json members = json::object();
  for (const auto& [name, text] : form.fields) {
    const json value = json_from_text(text);
    members[name] = value.is_primitive() && !value.is_discarded() ? value : json(text);
  }
  return members;
}

/// The library names its own parameter.
std::string in_words_of_requests(std::string message) {
  constexpr std::string_view kOption = "(others)", kHere = "(as parts 'image' of a form)";
  const size_t at = message.find(kOption);
  return at == std::string::npos ? message : message.replace(at, kOption.size(), kHere);
}

}  // namespace

json Api::calibrated_on(const Request& request, const Array& others, const CalibrationOptions& options) {
  const ExclusiveJob job(calibrates_);
  with_editor(request, [](const Recognizer& editor) { return editor.file().revision(); });  // it is the one served
  // A separate recognizer: the others keep answering.
  Recognizer recognizer = Recognizer::open(path_, options_.recognizing);
  CancellableProgress progress(*request.cancellation);
  json shown;
  try {
    shown =
        refusing(409, [&] { return calibration_json(to_json(recognizer.calibrate_on(others, options, progress))); });
  } catch (HttpError& refused) {
    refused.message = in_words_of_requests(refused.message);
    throw;
  }
  shown["change"] = change_json(recognizer.file().last_made());
  return shown;
}

void Api::calibrate(const Request& request, const Respond& respond) {
  CalibrationOptions options;
  Sent form;
  if (media_type(request.content_type) == "multipart/form-data") {
    form = read_form(request, uploads(request, {"false_accept", "similar"}));
    options = options_of(members_of(form));
  } else if (!request.body.empty()) {
    options = options_of(read_json_body(request.body, shape_of(request, {"false_accept", "similar"})).members);
  }
  for (const Upload& upload : form.images) {
    if (!upload.error.empty()) refuse(400, "an image could not be read: {}", upload.error);
  }
  with_features(request, form, respond, [this, options, respond](const Request& now, const Array& others) {
    // The job ends before the answer is sent: its client may ask for the next calibration at once.
    const json shown = calibrated_on(now, others, options);
    respond(json_response(shown));
  });
}

}  // namespace protocom::http
