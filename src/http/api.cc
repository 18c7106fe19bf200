#include "http/detail/api.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <stdexcept>

#include "base/clean_name.h"
#include "base/cores.h"
#include "base/log.h"
#include "base/text.h"
#include "http/detail/embedded.h"
#include "http/detail/multipart.h"

namespace protocom::http {
namespace {

/// Requests wait less long for a locked file than programs do.
ServerOptions with_patience(ServerOptions options) {
  options.recognizing.patience = options.limits.file;
  return options;
}

constexpr int kFewestDecoders = 2;

size_t decoder_count(const ServerOptions& options) {
  const int wanted = options.workers > 0 ? options.workers : usable_cores();
  return static_cast<size_t>(std::max(wanted, kFewestDecoders));
}

void run_answering(const Respond& respond, const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    respond(error_response(translate_exception()));
  }
}

}  // namespace

Api::Api(const std::filesystem::path& recognizer, const ServerOptions& options,
         std::shared_ptr<const TextEncoder> text_encoder, std::vector<std::string> beside)
    : path_(recognizer),
      recognizer_names_(std::move(beside)),
      options_(with_patience(options)),
      text_encoder_(std::move(text_encoder)),
      guard_(options.keys, options.origins),
      admission_(options.limits),
      editor_(Recognizer::open(recognizer, options_.recognizing)),
      settings_(editor_.file().settings()),
      takes_words_(text_encoder_ != nullptr && editor_.takes_words(text_encoder_->dim())),
      searches_words_(takes_words_ && text_encoder_->compares_with_images() &&
                      text_encoder_->dim() == settings_.feature_dim && editor_.file().artefact("model") == nullptr),
      readiness_file_(recognizer, FileUse::kChange, options.limits.file),
      routes_(described_routes(embedded_api("openapi"))),
      decoders_(decoder_count(options)),
      engine_(recognizer, options_, metrics_, file_) {
  if (text_encoder_ != nullptr && !takes_words_)
    logger().warn(
        "classes of {} cannot be described in words: it was not made with this text encoder (recognizer create "
        "--text-encoder, knowledge text)",
        path_.string());
  add_routes();
  add_page_routes();
  for (const Route& route : routes_) {
    if (!route.handle) throw std::logic_error("nothing handles the operation " + route.operation);
  }
}

void Api::handle(const std::string& operation, Handler handler, Runs runs) {
  const auto route =
      std::find_if(routes_.begin(), routes_.end(), [&](const Route& item) { return item.operation == operation; });
  if (route == routes_.end()) throw std::logic_error("the document has no operation " + operation);
  route->handle = std::move(handler);
  route->runs = runs;
}

void Api::add_routes() {
  answer_with("listClasses", &Api::list_classes);
  answer_with("showClass", &Api::show_class);
  answer_with("changeClass", &Api::change_class);
  answer_with("removeClass", &Api::remove_class);
  answer_with("mergeClass", &Api::merge_class);
  answer_with("listChanges", &Api::list_changes);
  answer_with("undo", &Api::undo);
  answer_with("redo", &Api::redo);
  handle("enrol", [this](const Request& request, const Respond& respond) { enrol(request, respond); });
  answer_with("removeExample", &Api::remove_example);
  answer_with("changeExample", &Api::change_example);
  answer_with("showThumbnail", &Api::thumbnail);
  answer_with("listUnlabelled", &Api::list_unlabelled);
  handle("addUnlabelled", [this](const Request& request, const Respond& respond) { add_unlabelled(request, respond); });
  answer_with("suggestNext", &Api::suggest_next);
  answer_with("labelUnlabelled", &Api::label_unlabelled);
  answer_with("removeAllUnlabelled", &Api::remove_all_unlabelled);
  answer_with("removeUnlabelled", &Api::remove_unlabelled);
  answer_with("showUnlabelledThumbnail", &Api::unlabelled_thumbnail);
  handle("classify", [this](const Request& request, const Respond& respond) { classify(request, respond); });
  handle("explain", [this](const Request& request, const Respond& respond) { explain(request, respond); });
  handle(
      "followChanges", [this](const Request& asked, const Respond& respond) { follow_changes(asked, respond); },
      Runs::kAtOnce);
  handle("calibrate", [this](const Request& request, const Respond& respond) { calibrate(request, respond); });
  handle("test", [this](const Request& request, const Respond& respond) { test(request, respond); });
  answer_with("accuracy", &Api::expected_accuracy, Runs::kAtLength);
  answer_with("mapPhotos", &Api::map_of_photos, Runs::kAtLength);
  handle("findSimilar", [this](const Request& request, const Respond& respond) { find_similar(request, respond); });
  answer_with("placePhotos", &Api::place_photos);
  answer_with("removePhotos", &Api::remove_photos);
  answer_with("showInvitation", &Api::show_invitation, Runs::kAside);
  answer_with("beginSharing", &Api::begin_sharing, Runs::kAside);
  answer_with("endSharing", &Api::end_sharing, Runs::kAside);
  answer_with("showRecognizer", &Api::describe_recognizer);
  // It contains thumbnails and the files that the classes were made from: clients that may change it may have it.
  answer_with("takeRecognizer", &Api::file_of_recognizer);
  answer_with("takeOnnx", &Api::onnx_of_recognizer, Runs::kAtLength);
  answer_with("describeInference", &Api::describe_inference, Runs::kAtOnce);
  answer_with("inferenceLive", &Api::inference_live, Runs::kAtOnce);
  answer_with("inferenceReady", &Api::inference_ready, Runs::kAside);
  answer_with("describeModel", &Api::describe_model, Runs::kAtOnce);
  answer_with("modelReady", &Api::model_ready, Runs::kAside);
  handle("infer", [this](const Request& request, const Respond& respond) { infer(request, respond); });
  answer_with("health", &Api::health, Runs::kAtOnce);
  answer_with("readiness", &Api::readiness, Runs::kAside);
  answer_with("metrics", &Api::show_metrics, Runs::kAside);
  answer_with("describe", &Api::document, Runs::kAtOnce);
}

Api::~Api() {
  decoders_.join();
  short_work_.join();
  long_work_.join();
  service_thread_.join();
}

std::optional<Response> Api::preflight(const Head& head) const {
  if (head.method != "OPTIONS" || head.asked_method.empty() || !allows_origin(head.origin)) return std::nullopt;
  Head asked = head;
  asked.method = head.asked_method;
  Response response{204, "text/plain", ""};
  response.headers = {{"Access-Control-Allow-Methods", find(asked).route->method},
                      {"Access-Control-Allow-Headers", "Authorization, Content-Type"},
                      {"Access-Control-Max-Age", "600"}};
  return response;
}

void Api::check_access(const Head& head, Asks asks) {
  if (!head.is_shared) return guard_.check(head, asks);
  std::unique_lock lock(invitation_mutex_);
  const std::shared_ptr<Guard> guard = shared_guard_;
  lock.unlock();
  if (!guard) refuse(403, "sharing has stopped");
  guard->check(head, asks);
}

Admitted Api::admit(const Head& head, Match match) {
  Admitted admitted;
  admitted.match = std::move(match);
  admitted.cancellation = std::make_shared<Cancellation>();
  check_access(head, admitted.match.route->asks);
  check_content(*admitted.match.route, head);
  admitted.content_type = body_type(*admitted.match.route, head);
  if (admitted.content_type == media_type(head.content_type))
    admitted.content_type = head.content_type;  // it states the boundary
  // A browser's EventSource reconnects to its first address, with the last revision it received in a header.
  if (!head.last_event.empty() && admitted.match.route->operation == "followChanges")
    admitted.match.parameters["after"] = head.last_event;
  const bool is_json = media_type(admitted.content_type) == "application/json";
  admitted.most_bytes = static_cast<uint64_t>(is_json ? options_.limits.json_bytes : options_.limits.body_bytes);
  if (head.content_length.value_or(0) > admitted.most_bytes)
    refuse(413, "the body exceeds {} bytes", admitted.most_bytes);
  if (admitted.match.route->runs == Runs::kInWorker || admitted.match.route->runs == Runs::kAtLength)
    admitted.place = admission_.begin();
  return admitted;
}

void Api::run_in(boost::asio::thread_pool& threads, const Respond& respond, std::function<void()> work) {
  boost::asio::post(threads, [respond, work = std::move(work)] { run_answering(respond, work); });
}

/// Returns the threads for a request: images and long bodies, which are slow to read, have their own threads, so that
/// they do not delay other requests.
boost::asio::thread_pool& Api::threads_for(const Route& route, const Request& request) {
  constexpr size_t kShortBody = size_t{64} << 10;
  if (route.runs == Runs::kAside) return service_thread_;
  if (route.runs == Runs::kAtLength) return long_work_;
  const bool is_json = media_type(request.content_type) == "application/json";
  const bool is_short = request.body.empty() || (is_json && request.body.size() <= kShortBody);
  return is_short ? short_work_ : decoders_;
}

void Api::later(const Respond& respond, std::function<void()> work) { run_in(short_work_, respond, std::move(work)); }

void Api::answer(Admitted admitted, std::string body, Respond respond) {
  const Route* route = admitted.match.route;
  const Respond keep = [place = admitted.place, respond = std::move(respond)](Response response) {
    if (place) place->leave();
    respond(std::move(response));
  };
  auto request =
      std::make_shared<Request>(Request{std::move(admitted.match.parameters), std::move(admitted.content_type),
                                        std::move(body), std::move(admitted.cancellation)});
  const auto work = [route, request, keep] {
    request->cancellation->check();
    route->handle(std::move(*request), keep);
  };
  if (route->runs == Runs::kAtOnce) return run_answering(keep, work);
  run_in(threads_for(*route, *request), keep, work);
}

Job job_for(const std::vector<Upload>& images) {
  Job job;
  for (const Upload& upload : images) {
    if (upload.error.empty()) job.images.push_back(upload.image);
  }
  return job;
}

void Api::submit(const Request& request, Job job) {
  job.arrived = request.arrived;
  job.cancellation = request.cancellation;
  engine_.submit(std::move(job));
}

void Api::with_features(const Request& request, const Sent& sent, const Respond& respond,
                        std::function<void(const Request& now, const Array& features)> work) {
  if (sent.images.empty()) return work(request, sent.features);
  Job job = job_for(sent.images);
  job.want = Want::kFeatures;
  job.done = [this, respond, work = std::move(work), cancellation = request.cancellation](const Recognised& done) {
    if (done.error) return respond(error_response(*done.error));
    later(respond, [work, cancellation, features = done.features] {
      Request now;
      now.cancellation = cancellation;
      work(now, features);
    });
  };
  submit(request, std::move(job));
}

std::string Api::without_path(const std::string& message) const {
  return replaced(message, one_line(path_.string()), "the recognizer");  // the path as messages show it
}

UploadOptions Api::uploads(const Request& request, std::vector<std::string> fields) const {
  return {settings_.preprocessing, options_.limits, std::move(fields), request.cancellation.get()};
}

Sent Api::read(const Request& request, const std::vector<std::string>& names) const {
  std::set<std::string> members(names.begin(), names.end());
  members.insert({"features", "image", "images"});
  return read_sent(request, uploads(request, names), shape_of(request, std::move(members)));
}

JsonShape Api::shape_of(const Request& request, std::set<std::string> members) const {
  JsonShape shape;
  if (members.count("features") > 0) shape.features = FeatureShape{settings_.feature_dim, options_.limits.rows};
  shape.members = std::move(members);
  shape.cancellation = request.cancellation.get();
  return shape;
}

nlohmann::json calibration_json(nlohmann::json calibration) {
  calibration.erase("names");
  calibration.erase("class_ids");
  return calibration;
}

nlohmann::json change_json(const std::optional<ChangeEntry>& change) {
  if (!change) return nullptr;
  return {{"id", change->id}, {"what", change->what}, {"time", change->time}};
}

nlohmann::json last_change_of(const RecognizerFile& file) {
  const std::vector<ChangeEntry> last = file.changes(1);
  return last.empty() ? nullptr : change_json(last.front());
}

nlohmann::json next_redo_of(const RecognizerFile& file) {
  const std::vector<ChangeEntry> next = file.undone(1);
  return next.empty() ? nullptr : change_json(next.front());
}

namespace {

std::string sent_name(const std::string& written, std::string (*checked)(std::string_view)) {
  check_label(written, "a class's name");
  try {
    return checked(written);
  } catch (const UsageError& error) {
    refuse(400, "{}", error.what());
  }
}

}  // namespace

std::string class_name_in(const std::string& written) { return sent_name(written, &checked_class_name); }

std::string new_class_name_in(const std::string& written) { return sent_name(written, &checked_new_class_name); }

ClassInfo class_or_404(const RecognizerFile& file, const std::string& name) {
  auto found = file.find_class(class_name_in(name));
  if (!found) refuse(404, "unknown class '{}'", excerpt(name));
  return std::move(*found);
}

ExampleInfo example_or_404(const RecognizerFile& file, int64_t id) {
  try {
    return file.example(id);
  } catch (const DatabaseError&) {
    throw;  // a fault of the file
  } catch (const Error&) {
    refuse(404, "unknown example {}", id);
  }
}

int64_t id_of(const std::string& text) {
  const bool is_number = !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) refuse(404, "unknown example '{}'", excerpt(text));
  return std::stoll(text);
}

}  // namespace protocom::http
