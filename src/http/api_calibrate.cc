#include "http/detail/api.h"
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

/// Returns the options requested: a rate, or similar kinds too.
CalibrationOptions options_of(const Sent& sent) {
  CalibrationOptions options;
  if (const auto rate = sent.find("false_accept")) options.false_accept = parse_false_accept(*rate);
  if (const auto similar = sent.find("similar")) options.similar = flag_of(*similar, "similar");
  return options;
}

/// Replaces the library's parameter name by that of requests.
std::string in_words_of_requests(std::string message) {
  constexpr std::string_view kOption = "(others)", kHere = "(as parts 'image' of a form)";
  const size_t at = message.find(kOption);
  return at == std::string::npos ? message : message.replace(at, kOption.size(), kHere);
}

}  // namespace

json Api::calibrated_on(const Request& request, const Array& others, const CalibrationOptions& options) {
  CancellableProgress progress(*request.cancellation);
  const auto calibrate = [&](Recognizer& recognizer) {
    json shown = calibration_json(to_json(recognizer.calibrate_on(others, options, progress)));
    shown["change"] = change_json(recognizer.file().last_made());
    return shown;
  };
  try {
    return with_own_recognizer(request, measures_, calibrate);
  } catch (HttpError& refused) {
    refused.message = in_words_of_requests(refused.message);
    throw;
  }
}

void Api::calibrate(const Request& request, const Respond& respond) {
  Sent sent;
  if (media_type(request.content_type) == "multipart/form-data")
    sent = read_form(request, uploads(request, {"false_accept", "similar"}));
  else if (!request.body.empty())
    sent.members = read_json_body(request.body, shape_of(request, {"false_accept", "similar"})).members;
  const CalibrationOptions options = options_of(sent);
  for (const Upload& upload : sent.images) {
    if (!upload.error.empty()) refuse(400, "an image could not be read: {}", upload.error);
  }
  with_features(request, sent, respond, [this, options, respond](const Request& now, const Array& others) {
    run_in(long_work_, respond, [this, options, respond, now, others] {
      // The job ends before the answer is sent: its client may request the next calibration at once.
      const json shown = calibrated_on(now, others, options);
      respond(json_response(shown));
    });
  });
}

}  // namespace protocom::http
