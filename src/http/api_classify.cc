#include <algorithm>

#include "base/error.h"
#include "http/detail/api.h"
#include "recognizer/results_json.h"
#include "recognizer/series.h"

namespace protocom::http {
namespace {

using nlohmann::json;

/// Images to classify, and what to return with their answers.
struct Asked {
  std::vector<Upload> images;
  bool with_features = false;  ///< return features too, for repeating the request without the images
  int64_t top = 0;             ///< classes per answer
  int64_t nearest = 0;         ///< enrolled images per answer
};

Asked asked_in(const Request& request, const RecognizerOptions& options) {
  Asked asked;
  asked.top = count_in(request, "top", 1, std::max(kMostTop, options.top), options.top);
  asked.nearest = count_in(request, "nearest", 0, std::max(kMostNearest, options.nearest), options.nearest);
  return asked;
}

void shorten(json& list, int64_t most) {
  if (static_cast<int64_t>(list.size()) > most) list.erase(list.begin() + most, list.end());
}

/// Returns an answer as shown, with the source of examples without its folder.
json shown_answer(const Answer& answer, const Asked& asked) {
  json shown = answer_json(answer);
  shorten(shown["ranking"], asked.top);
  shorten(shown["nearest"], asked.nearest);
  for (json& item : shown["nearest"]) item["source"] = file_name_of(item["source"]);
  return shown;
}

json feature_numbers(const Array& feature) {
  const auto* begin = feature.data<float>();
  return std::vector<float>(begin, begin + feature.numel());
}

/// Whether all that was sent is one series: frames of a burst or a video, of one visit to a camera trap.
bool is_series(const Request& request) {
  const auto found = request.parameters.find("series");
  if (found == request.parameters.end()) return false;
  if (found->second != "one") refuse(400, "'series': expected 'one', found '{}'", excerpt(found->second));
  return true;
}

/// Returns the answers in the order of the images; an unreadable one has the reason.
Response classified(const Asked& asked, const Recognised& done) {
  if (done.error) return error_response(*done.error);
  json answers = json::array();
  auto next = done.answers.begin();
  for (const Upload& upload : asked.images) {
    json shown = json::object();
    if (upload.error.empty()) {
      if (asked.with_features) shown["feature"] = feature_numbers(done.features.row(next - done.answers.begin()));
      shown.update(shown_answer(*next++, asked));
    } else {
      shown["error"] = upload.error;
    }
    shown["image"] = upload.label;
    if (upload.box) shown["box"] = {upload.box->x, upload.box->y, upload.box->width, upload.box->height};
    answers.push_back(shown);
  }
  for (; next != done.answers.end(); ++next) answers.push_back(shown_answer(*next, asked));  // for features
  return json_response({{"answers", answers}, {"method", done.method}, {"mode", done.mode}});
}

}  // namespace

int64_t count_in(const Request& request, const char* name, int64_t fewest, int64_t most, int64_t otherwise) {
  const auto found = request.parameters.find(name);
  if (found == request.parameters.end()) return otherwise;
  const std::string& text = found->second;
  const bool is_number = !text.empty() && text.size() < 6 && text.find_first_not_of("0123456789") == std::string::npos;
  const int64_t count = is_number ? std::stoll(text) : -1;
  if (count < fewest || count > most)
    refuse(400, "'{}': expected a number from {} to {}, found '{}'", name, fewest, most, excerpt(text));
  return count;
}

void Api::classify_features(const Request& request, Array features, const Respond& respond) {
  const Asked asked = asked_in(request, options_.recognizing);
  Job job;
  job.features = std::move(features);
  job.asked = asked_of_answers(request);
  job.done = [this, respond, asked](Recognised done) {
    later(respond, [respond, asked, done = std::move(done)] { respond(classified(asked, done)); });
  };
  submit(request, std::move(job));
}

void Api::classify_series(const Request& request, Sent sent, const Respond& respond) {
  asked_in(request, options_.recognizing);  // fails for invalid parameters before any work
  asked_of_answers(request);
  const auto without_box = [](const Upload& image) { return image.without_box; };
  sent.images.erase(std::remove_if(sent.images.begin(), sent.images.end(), without_box), sent.images.end());
  if (sent.images.empty() && !sent.features.defined()) refuse(400, "a series needs images or features");
  for (size_t i = 0; i < sent.images.size(); ++i) {
    if (!sent.images[i].error.empty()) refuse(400, "image {} of the series: {}", i, sent.images[i].error);
  }
  const auto answer = [this, respond, parameters = request.parameters](const Request& now, const Array& features) {
    Request about_one = now;
    about_one.parameters = parameters;
    classify_features(about_one, mean_feature(features), respond);
  };
  with_features(request, sent, respond, answer);
}

void Api::classify(const Request& request, const Respond& respond) {
  if (is_series(request)) return classify_series(request, read(request, with_box_fields({})), respond);
  auto asked = std::make_shared<Asked>(asked_in(request, options_.recognizing));
  Sent sent = read(request, with_box_fields({"with_features"}));
  asked->with_features = flag_of(sent.find("with_features").value_or(false), "with_features");
  if (sent.features.defined()) return classify_features(request, std::move(sent.features), respond);
  asked->images = std::move(sent.images);
  if (asked->images.empty())
    refuse(400,
           "give images, as parts 'image' of a form or as base64 in the members 'image' or 'images', or the member "
           "'features'");
  Job job = job_for(asked->images);
  job.asked = asked_of_answers(request);
  job.done = [this, respond, asked](Recognised done) {
    later(respond, [respond, asked, done = std::move(done)] { respond(classified(*asked, done)); });
  };
  submit(request, std::move(job));
}

}  // namespace protocom::http
