#include <algorithm>
#include <cstdlib>

#include "apps/protocom/run/config.h"
#include "base/error.h"
#include "eval/tune.h"
#include "fewshot/fitted_method.h"
#include "fewshot/paper/completion_model.h"
#include "fuzz/connection.h"
#include "fuzz/readers.h"
#include "fuzz/seeds.h"
#include "http/api_keys.h"
#include "http/detail/http_error.h"
#include "http/detail/inference_protocol.h"
#include "http/detail/json_body.h"
#include "http/detail/multipart.h"
#include "http/detail/target.h"
#include "http/detail/uploads.h"
#include "io/files.h"
#include "io/json.h"
#include "report/html_report.h"
#include "store/detail/sqlite_files.h"
#include "store/recognizer_file.h"
#include "trainers/detail/checkpoint.h"

namespace protocom::fuzz {
namespace {

namespace fs = std::filesystem;

void read_recognizer(const fs::path& path) {
  const RecognizerFile file(path);
  attempt([&] { (void)file.snapshot(); });
  attempt([&] { (void)file.list_examples(""); });
  (void)file.check();
}

/// Reads a journal beside a recognizer. SQLite trusts what a journal states: another file must not be deleted, and this
/// one must not grow much.
void read_journal(const fs::path& path) {
  const fs::path whole = path.parent_path() / "whole.pcm", other = path.parent_path() / "other";
  if (!fs::exists(whole)) write_small_recognizer(whole);
  const fs::path recognizer = path.string() + ".pcm";
  fs::copy_file(whole, recognizer, fs::copy_options::overwrite_existing);
  fs::copy_file(path, recognizer.string() + "-journal", fs::copy_options::overwrite_existing);
  write_file(other, "of the user");
  attempt([&] {
    RecognizerFile file(recognizer);
    file.set_calibration({{"factor", 2}});
  });
  if (!fs::exists(other) || fs::file_size(recognizer) > 2 * fs::file_size(whole)) std::abort();
  if (const auto planted = planted_companion(recognizer)) fail("{}: {}", path.string(), *planted);
}

void read_fitted(const fs::path& path) { (void)read_fitted_method(path).method->state(); }

void read_model(const fs::path& path) { (void)read_completion_model(path); }

void read_results(const fs::path& path) { (void)html_report({parse_evaluation(read_json(path), path.string())}); }

void read_analysis(const fs::path& path) {
  ReportOptions options;
  options.analyses = {parse_analysis(read_json(path), path.string())};
  (void)html_report({}, options);
}

void read_configuration(const fs::path& path) { (void)cli::read_run_config(path, {}); }

void read_keys(const fs::path& path) {
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);  // another's would be refused unread
  (void)http::ApiKeys::read(path);
}

void read_tuned(const fs::path& path) { (void)read_chosen(path); }

/// Runs something that may reject a client.
template <typename Read>
void attempt_request(const Read& read) {
  try {
    read();
  } catch (const http::HttpError& error) {
    if (error.status < 400 || error.status > 499 || error.message.empty()) std::abort();
  }
}

void read_form(const fs::path& path) {
  const std::string body = read_file(path);
  attempt_request([&] { (void)http::parse_multipart(body, "multipart/form-data; boundary=edge", 8); });
  attempt_request([&] { (void)http::parse_multipart("--edge--", body, 8); });
}

/// A media type, the end of a line, and a body with images and their boxes.
void read_upload(const fs::path& path) {
  const std::string both = read_file(path);
  const size_t end = std::min(both.find('\n'), both.size());
  http::Request request;
  request.content_type = both.substr(0, end);
  request.body = both.substr(std::min(end + 1, both.size()));
  http::UploadOptions options;
  options.preprocessing = Preprocessing{8};
  options.limits.pixels = 1 << 20;
  options.limits.request_pixels = 1 << 22;
  options.fields = {http::kBoxesField};
  attempt_request([&] {
    const http::JsonShape shape{{"image", "images", "features", http::kBoxesField}, http::FeatureShape{2, 4}};
    const http::Sent sent = read_sent(request, options, shape);
    for (const http::Upload& photo : sent.images) {
      if (photo.error.empty() && (photo.image.width != 8 || photo.image.height != 8)) std::abort();
    }
  });
}

void read_request(const fs::path& path) {
  const std::string body = read_file(path);
  attempt_request([&] {
    const nlohmann::json object =
        http::read_json_body(body, {{"features", "name", "attributes"}, http::FeatureShape{2, 4}}).members;
    if (object.contains("name")) (void)http::text_in(object, "name");
    ClassRequest request;
    if (object.contains("attributes")) http::read_attributes_member(object, "attributes", request);
  });
}

void read_inference(const fs::path& path) {
  constexpr int64_t kDim = 4, kMost = 2, kTop = 5;
  const std::string body = read_file(path);
  attempt_request([&] {
    http::JsonShape shape{{"id", "parameters", "inputs", "outputs"}, http::FeatureShape{kMost, kDim}};
    shape.deepest = 5;
    const http::InferenceRequest asked =
        http::read_inference_request(http::read_json_body(body, shape).members, kDim, kMost, kTop, kTop);
    const int64_t rows = asked.features.defined() ? asked.features.size(0) : 0;
    Answer answer;
    answer.ranking.resize(kTop);
    (void)http::inference_response(asked, "birds", std::vector<Answer>(static_cast<size_t>(rows), answer)).dump();
  });
}

void read_target(const fs::path& path) {
  attempt_request([&] { (void)http::path_of(read_file(path)); });
}

void read_state(const fs::path& path) { (void)read_checkpoint(path); }

}  // namespace

const std::vector<Reader>& upper_readers() {
  static const std::vector<Reader> all = {{"results", ".json", false, &read_results},
                                          {"analysis", ".json", false, &read_analysis},
                                          {"toml", ".toml", false, &read_configuration},
                                          {"checkpoint", ".npz", true, &read_state},
                                          {"keys", ".json", false, &read_keys},
                                          {"tuned", ".json", false, &read_tuned},
                                          {"form", ".txt", false, &read_form},
                                          {"upload", ".txt", false, &read_upload},
                                          {"request", ".json", false, &read_request},
                                          {"inference", ".json", false, &read_inference},
                                          {"journal", ".journal", false, &read_journal},
                                          {"target", ".txt", false, &read_target},
                                          {"connection", ".txt", false, &play_connection},
                                          {"recognizer", ".pcm", false, &read_recognizer},
                                          {"fitted", ".npz", true, &read_fitted},
                                          {"completion-model", ".npz", true, &read_model}};
  return all;
}

std::vector<Reader> readers() {
  std::vector<Reader> all = lower_readers();
  all.insert(all.end(), upper_readers().begin(), upper_readers().end());
  return all;
}

}  // namespace protocom::fuzz
