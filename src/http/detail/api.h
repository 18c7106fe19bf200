#pragma once
#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "encoders/text_encoder.h"
#include "http/detail/admission.h"
#include "http/detail/batch_engine.h"
#include "http/detail/exclusive_job.h"
#include "http/detail/file_state.h"
#include "http/detail/followers.h"
#include "http/detail/guard.h"
#include "http/detail/json_body.h"
#include "http/detail/metrics.h"
#include "http/detail/routes.h"
#include "http/detail/uploads.h"
#include "http/share.h"
#include "protocom/server_options.h"
#include "recognizer/recognizer.h"
#include "recognizer/test_recognizer.h"
#include "store/database_error.h"

namespace protocom::http {

/// A request whose body may be sent.
struct Admitted {
  Match match;
  std::string content_type;
  uint64_t most_bytes = 0;                     ///< limit of its body
  std::shared_ptr<Admission::Place> place;     ///< nullptr: it needs no place
  std::shared_ptr<Cancellation> cancellation;  ///< cancels the work of answering it
};

/// The server's operations, independent of sockets: a handler for every operation of assets/server/openapi.json, which
/// declares the routes. Several threads process requests; work for the backbone is passed to the engine's lanes, and
/// changes of the file are serialised. Thread-safe.
class Api {
 public:
  /// `beside`: the names of all recognizers of the server, including this one, if there are several. Throws what
  /// opening the recognizer and its keys throws.
  Api(const std::filesystem::path& recognizer, const ServerOptions& options,
      std::shared_ptr<const TextEncoder> text_encoder, std::vector<std::string> beside = {});
  /// Finishes the accepted requests.
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  /// Returns the route of a request. Throws HttpError.
  [[nodiscard]] Match find(const Head& head) const { return find_route(routes_, head); }
  /// Returns the answer to a preflight request (CORS); nothing for other requests. Throws HttpError.
  [[nodiscard]] std::optional<Response> preflight(const Head& head) const;
  /// Whether pages of that other site may send requests.
  [[nodiscard]] bool allows_origin(const std::string& origin) const { return guard_.allows_origin(origin); }
  /// Checks from its head alone whether a request may continue. Throws HttpError.
  Admitted admit(const Head& head, Match match);
  /// Answers the requests that wait for a change, because the server stops.
  void stop_following() { followers_.stop(); }
  /// Sets what GET /v1/share shows from now on, and the keys of other devices.
  void invite(Invitation invitation);
  /// Sets what POST and DELETE /v1/share call.
  void allow_sharing(Sharing sharing) { sharing_ = std::move(sharing); }
  /// Returns a place that counts the memory of a response until it is read.
  std::shared_ptr<Admission::Place> room() { return admission_.begin(); }
  /// Answers a request, at once or from another thread.
  void answer(Admitted admitted, std::string body, Respond respond);

  [[nodiscard]] const std::vector<Route>& routes() const { return routes_; }
  [[nodiscard]] Metrics& metrics() { return metrics_; }

 private:
  /// Sets the handler of an operation of the document.
  void handle(const std::string& operation, Handler handler, Runs runs = Runs::kInWorker);
  /// Sets a handler that returns its answer, JSON or a whole response.
  template <typename Answer>
  void answer_with(const std::string& operation, Answer (Api::*of)(const Request&), Runs runs = Runs::kInWorker) {
    const auto answer = [this, of](const Request& request, const Respond& respond) {
      if constexpr (std::is_same_v<Answer, Response>)
        respond((this->*of)(request));
      else
        respond(json_response((this->*of)(request)));
    };
    handle(operation, answer, runs);
  }
  void add_routes();
  void add_page_routes();

  nlohmann::json list_classes(const Request& request);
  nlohmann::json show_class(const Request& request);
  nlohmann::json change_class(const Request& request);
  nlohmann::json remove_class(const Request& request);
  nlohmann::json merge_class(const Request& request);
  nlohmann::json undo(const Request& request);
  nlohmann::json redo(const Request& request);
  nlohmann::json turn(const Request& request, ChangeEntry (RecognizerFile::*way)(std::optional<int64_t> only),
                      const char* turned);
  nlohmann::json list_changes(const Request& request);
  nlohmann::json remove_example(const Request& request);
  nlohmann::json change_example(const Request& request);
  Response thumbnail(const Request& request);
  nlohmann::json readiness(const Request& request);
  nlohmann::json expected_accuracy(const Request& request);
  /// Returns what a request wants of its answers: sets of classes (?coverage=) and groups (?roll_up=). Sets are slow if
  /// something has changed.
  Recognizer::Asked asked_of_answers(const Request& request);
  /// Returns what `measure` finds on a separate recognizer, while other requests are answered: measured again only
  /// after a change, one request at a time.
  template <typename Found, typename Measure>
  Found measured_once(const Request& request, std::optional<std::pair<int64_t, Found>>& last, const Measure& measure);
  nlohmann::json describe_recognizer(const Request& request);
  /// Sends the whole recognizer file.
  Response file_of_recognizer(const Request& request);
  /// Sends it as an ONNX file, for other programs.
  Response onnx_of_recognizer(const Request& request);
  nlohmann::json list_unlabelled(const Request& request);
  nlohmann::json remove_unlabelled(const Request& request);
  nlohmann::json remove_all_unlabelled(const Request& request);
  Response unlabelled_thumbnail(const Request& request);
  void add_unlabelled(const Request& request, const Respond& respond);
  /// Lists unlabelled images in the order in which labelling them helps most.
  nlohmann::json suggest_next(const Request& request);
  /// Makes an unlabelled image an example of a class.
  nlohmann::json label_unlabelled(const Request& request);
  /// Shows which parts of an image determine its answer.
  void explain(const Request& request, const Respond& respond);
  /// Places enrolled and unlabelled images in the plane, by similarity.
  nlohmann::json map_of_photos(const Request& request);
  /// Finds the images most similar to an image or words.
  void find_similar(const Request& request, const Respond& respond);
  /// Moves many images to a class or removes them, as one change.
  nlohmann::json place_photos(const Request& request);
  nlohmann::json remove_photos(const Request& request);
  /// Shows how other devices join.
  nlohmann::json show_invitation(const Request& request);
  nlohmann::json begin_sharing(const Request& request);
  nlohmann::json end_sharing(const Request& request);
  /// Throws HttpError unless the client may send this request.
  void check_access(const Head& head, Asks asks);
  void follow_changes(const Request& request, const Respond& respond);
  RevisionSource revision_source();
  void enrol(const Request& request, const Respond& respond);
  void classify(const Request& request, const Respond& respond);
  void classify_features(const Request& request, Array features, const Respond& respond);
  /// Gives one answer for all images sent.
  void classify_series(const Request& request, Sent sent, const Respond& respond);
  /// The Open Inference Protocol: liveness, readiness, metadata of the server and its model, answers.
  nlohmann::json inference_live(const Request& request);
  nlohmann::json inference_ready(const Request& request);
  nlohmann::json describe_inference(const Request& request);
  nlohmann::json model_ready(const Request& request);
  nlohmann::json describe_model(const Request& request);
  void infer(const Request& request, const Respond& respond);
  /// Throws HttpError 404 unless a request names this recognizer.
  void check_model(const Request& request) const;
  void calibrate(const Request& request, const Respond& respond);
  void test(const Request& request, const Respond& respond);
  nlohmann::json tested_on(const Request& request, TestFeatures images);
  nlohmann::json calibrated_on(const Request& request, const Array& others, const CalibrationOptions& options);
  nlohmann::json health(const Request& request);
  Response show_metrics(const Request& request);
  Response document(const Request& request);
  void check_class(const Request& request, const ClassToDescribe& described);
  /// Sets the class's vector from its descriptions in words; returns warnings for the user, such as about truncated
  /// texts. Throws HttpError 400 if the server has no text encoder, or for a text without a word.
  std::vector<std::string> set_text_vector(ClassToDescribe& of) const;

  /// Returns the vector of words in the space of images. Throws HttpError 409 if texts cannot be compared with images,
  /// 400 for a text without a word.
  [[nodiscard]] Array feature_of_words(const std::string& words) const;

  /// Passes a job of this request to the engine.
  void submit(const Request& request, Job job);
  /// Calls `work` with the features that were sent, at once, or with those of the images once the engine has computed
  /// them and `request` is over; undefined if neither were sent.
  void with_features(const Request& request, const Sent& sent, const Respond& respond,
                     std::function<void(const Request& now, const Array& features)> work);
  /// Runs `work` in one of those threads; what it throws becomes the answer.
  void run_in(boost::asio::thread_pool& threads, const Respond& respond, std::function<void()> work);
  boost::asio::thread_pool& threads_for(const Route& route, const Request& request);
  /// Runs it in a worker.
  void later(const Respond& respond, std::function<void()> work);
  /// Runs `work` on the recognizer for lists and changes, one at a time. Changes to a file that was moved or replaced
  /// meanwhile are not acknowledged.
  template <typename Work>
  auto with_editor(const Request& request, const Work& work) {
    const std::lock_guard lock(editor_mutex_);
    return file_.use(request.arrived, [&] {
      editor_.follow();
      auto result = work(editor_);
      if (!editor_.file().is_at_path())
        refuse_for_now(
            503, 5,
            "the recognizer's file was moved during the change: check whether the moved file contains the change");
      return result;
    });
  }
  /// Runs `work`; an Error of the library is the client's fault, answered with that status, but a fault of the file is
  /// not.
  template <typename Work>
  auto refusing(int status, const Work& work) const {
    try {
      return work();
    } catch (const DatabaseError&) {
      throw;
    } catch (const Error& error) {
      refuse(status, "{}", without_path(error.what()));
    }
  }
  /// Runs `work` on a separate recognizer, while other requests are answered; its errors are answered with 409.
  template <typename Work>
  auto with_own_recognizer(const Request& request, ExclusiveKind& kind, const Work& work) {
    served_revision(request);
    const ExclusiveJob job(kind);
    Recognizer recognizer = Recognizer::open(path_, options_.recognizing);
    return refusing(409, [&] { return work(recognizer); });
  }
  /// Runs `work` on the file, opened for it alone, while other requests are answered and change it.
  template <typename Work>
  auto with_own_file(const Request& request, const Work& work) {
    served_revision(request);
    const RecognizerFile file(path_, FileUse::kChange, options_.limits.file);
    return work(file);
  }
  /// Returns the revision of the file, after checking that it is the one served.
  int64_t served_revision(const Request& request) {
    return with_editor(request, [](const Recognizer& editor) { return editor.file().revision(); });
  }
  /// Returns an error's message without the recognizer's path.
  [[nodiscard]] std::string without_path(const std::string& message) const;
  /// Reads what a request sends: images, or `features` instead, and these members or fields (read_sent).
  [[nodiscard]] Sent read(const Request& request, const std::vector<std::string>& names) const;
  [[nodiscard]] UploadOptions uploads(const Request& request, std::vector<std::string> fields) const;
  [[nodiscard]] JsonShape shape_of(const Request& request, std::set<std::string> members) const;

  std::filesystem::path path_;
  std::vector<std::string> recognizer_names_;
  ServerOptions options_;
  std::shared_ptr<const TextEncoder> text_encoder_;  // for descriptions in words; nullptr: none
  Metrics metrics_;
  Guard guard_;
  Admission admission_;
  FileState file_;
  std::mutex editor_mutex_;
  Recognizer editor_;  ///< for lists too: one at a time
  RecognizerSettings settings_;
  bool takes_words_;     ///< whether classes may be described in words
  bool searches_words_;  ///< whether images may be searched by words
  std::mutex invitation_mutex_;
  Invitation invitation_;
  std::shared_ptr<Guard> shared_guard_;  ///< checks requests of other devices; nullptr: none may send any
  Sharing sharing_;
  ExclusiveKind measures_{"another calibration, test or estimate of the accuracy"};
  ExclusiveKind exports_{"another export"};
  ExclusiveKind maps_{"another map"};
  /// Revision of the last map, and the map; used while mapping.
  std::optional<std::pair<int64_t, nlohmann::json>> map_;
  std::mutex measured_mutex_;                                        ///< guards the next two
  std::optional<std::pair<int64_t, nlohmann::json>> expected_;       ///< the last estimate and its revision
  std::optional<std::pair<int64_t, std::vector<double>>> left_out_;  ///< Recognizer::left_out_probabilities, likewise
  RecognizerFile readiness_file_;  ///< checks whether the recognizer can be read, in the thread of service_thread_
  std::vector<Route> routes_;
  boost::asio::thread_pool service_thread_{1};
  boost::asio::thread_pool short_work_{2};  ///< for short work
  boost::asio::thread_pool long_work_{3};   ///< one thread per ExclusiveKind, so that short work need not wait for it
  boost::asio::thread_pool decoders_;       ///< for images and long bodies
  BatchEngine engine_;
  Followers followers_{revision_source()};  ///< last, because it uses the others
};

/// Makes a job for the readable images.
Job job_for(const std::vector<Upload>& images);

/// Returns a calibration for a response, without the hash of its classes.
nlohmann::json calibration_json(nlohmann::json calibration);

/// Returns a change for a response, with its number for undoing; null: there is none.
nlohmann::json change_json(const std::optional<ChangeEntry>& change);
/// Returns the last change of the file, by any program.
nlohmann::json last_change_of(const RecognizerFile& file);
/// Returns the change that redo would repeat; null: there is none.
nlohmann::json next_redo_of(const RecognizerFile& file);

/// Returns the name of a file without its folder, as the source of an image is shown.
std::string file_name_of(const std::string& source);

/// Returns a class name sent by a client, normalised (checked_class_name). Throws HttpError 400 for an invalid one.
std::string class_name_in(const std::string& written);
/// Does the same for a new name of a class (checked_new_class_name).
std::string new_class_name_in(const std::string& written);

/// Returns the class of a name, after normalisation. Throws HttpError 404 if it is unknown, 400 for an invalid name.
ClassInfo class_or_404(const RecognizerFile& file, const std::string& name);

/// Throws HttpError 404 for an unknown example.
ExampleInfo example_or_404(const RecognizerFile& file, int64_t id);

/// Throws HttpError 404 for an unknown unlabelled image.
ExampleInfo unlabelled_or_404(const RecognizerFile& file, int64_t id);

/// Returns the unlabelled images in the order of their features in a new snapshot. Throws HttpError 503 if another
/// program has changed them since.
std::vector<ExampleInfo> unlabelled_of(const RecognizerFile& file, const RecognizerSnapshot& snapshot);

/// Returns a count in the query, else `otherwise`. Throws HttpError 400 unless it is a number from `fewest` to `most`.
int64_t count_in(const Request& request, const char* name, int64_t fewest, int64_t most, int64_t otherwise);

/// Returns an id in a path. Throws HttpError 404 unless it is a number.
int64_t id_of(const std::string& text);

}  // namespace protocom::http
