#include "http/detail/api.h"
#include "http/detail/inference_protocol.h"
#include "io/artefact.h"

namespace protocom::http {

using nlohmann::json;

namespace {

/// Throws HttpError 400 for an unreadable image.
std::vector<Upload> readable(std::vector<Upload> images) {
  for (const Upload& image : images) {
    if (!image.error.empty()) refuse(400, "image {}: {}", image.number, image.error);
  }
  return images;
}

}  // namespace

void Api::check_model(const Request& request) const {
  const std::string& asked = request.parameters.at("model");
  if (asked == path_.stem().string()) return;
  const std::vector<std::string> known =
      recognizer_names_.empty() ? std::vector<std::string>{path_.stem().string()} : recognizer_names_;
  refuse(404, "unknown model '{}': expected {}", excerpt(asked), fmt::join(known, " or "));
}

json Api::describe_inference(const Request& /*request*/) {
  return {{"name", "protocom"}, {"version", program_version()}, {"extensions", json::array()}};
}

json Api::inference_live(const Request& /*request*/) { return {{"live", true}}; }

json Api::inference_ready(const Request& request) {
  readiness(request);
  return {{"ready", true}};
}

json Api::describe_model(const Request& request) {
  check_model(request);
  return inference_metadata(path_.stem().string(), settings_.feature_dim);
}

json Api::model_ready(const Request& request) {
  check_model(request);
  readiness(request);
  return {{"name", path_.stem().string()}, {"ready", true}};
}

void Api::infer(const Request& request, const Respond& respond) {
  check_model(request);
  JsonShape shape = shape_of(request, {"id", "parameters", "inputs", "outputs"});
  shape.deepest = 5;  // {"inputs": [{"data": [[0.1, ...]]}]}
  const json body = read_json_body(request.body, shape).members;
  const int64_t top = options_.recognizing.top;
  auto asked = std::make_shared<InferenceRequest>(
      read_inference_request(body, settings_.feature_dim, options_.limits.rows, top, std::max(kMostTop, top)));
  const auto answer = [this, respond, asked](Recognised found) {
    later(respond, [this, respond, asked, found = std::move(found)] {
      if (found.error) return respond(error_response(*found.error));
      respond(json_response(inference_response(*asked, path_.stem().string(), found.answers)));
    });
  };
  Job job;
  if (asked->features.defined())
    job.features = asked->features;
  else
    job = job_for(readable(read_json_images({{"images", asked->images}}, uploads(request, {}))));
  job.done = answer;
  submit(request, std::move(job));
}

}  // namespace protocom::http
