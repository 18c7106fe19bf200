#include <fmt/format.h>

#include <cctype>

#include "http/detail/api.h"
#include "http/detail/embedded.h"
#include "io/artefact.h"

namespace protocom::http {
namespace {

using nlohmann::json;

/// Of a recognizer that is sent: it lies in memory, twice while it is read.
constexpr int64_t kLargestFile = int64_t{256} << 20;

/// Where the page and the routes of a recognizer are: "/my%20birds/".
std::string path_to(const std::string& name) {
  std::string path = "/";
  for (const unsigned char c : name) {
    const bool plain = std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    path += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return path + "/";
}

}  // namespace

json Api::describe_recognizer(const Request& request) {
  json recognizers = json::array();
  for (const std::string& name : beside_) recognizers.push_back({{"name", name}, {"path", path_to(name)}});
  return with_editor(request, [&](const Recognizer& editor) {
    const auto calibration = editor.file().calibration();
    return json{{"version", program_version()},
                {"name", path_.stem().string()},
                {"recognizers", recognizers},
                {"attributes", settings_.attributes},
                {"words", settings_.words},
                {"takes_words", takes_words_},
                {"takes_unlabelled", editor.learns_from_unlabelled()},
                {"unlabelled", editor.file().count_unlabelled()},
                {"feature_dim", settings_.feature_dim},
                {"image_size", settings_.preprocessing.image_size},
                {"shorter_side", settings_.preprocessing.shorter_side()},
                {"calibration", calibration ? calibration_json(*calibration) : json()},
                {"change", last_change_of(editor.file())}};
  });
}

Response Api::file_of_recognizer(const Request& request) {
  return with_editor(request, [&](const Recognizer& editor) {
    const int64_t size = editor.file().serialized_size();
    if (size > kLargestFile)
      refuse(413, "the recognizer has {} MB, and more than {} are not sent: copy its file where the server runs",
             size >> 20, kLargestFile >> 20);
    return Response{200, "application/octet-stream", editor.file().serialized()};
  });
}

json Api::readiness(const Request& request) {
  file_.use(request.arrived, [&] {
    probe_.follow();
    return probe_.revision();
  });
  return {{"status", "ready"}};
}

json Api::health(const Request& /*request*/) { return {{"status", "ok"}}; }

Response Api::show_metrics(const Request& /*request*/) {
  return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_.text()};
}

Response Api::document(const Request& /*request*/) {
  return {200, "application/json", std::string(embedded_api("openapi"))};
}

}  // namespace protocom::http
