#include "http/detail/api.h"
#include "http/detail/embedded.h"
#include "http/detail/target.h"
#include "http/qr_code.h"
#include "io/artefact.h"

namespace protocom::http {
namespace {

using nlohmann::json;

/// Returns the path of a recognizer's page and routes: "/my%20birds/".
std::string path_to(const std::string& name) { return "/" + percent_encoded(name) + "/"; }

}  // namespace

json Api::describe_recognizer(const Request& request) {
  json recognizers = json::array();
  for (const std::string& name : recognizer_names_) recognizers.push_back({{"name", name}, {"path", path_to(name)}});
  return with_editor(request, [&](const Recognizer& editor) {
    const auto calibration = editor.file().calibration();
    return json{{"version", program_version()},
                {"name", path_.stem().string()},
                {"recognizers", recognizers},
                {"attributes", settings_.attributes},
                {"words", settings_.words},
                {"takes_words", takes_words_},
                {"searches_words", searches_words_},
                {"takes_unlabelled", editor.learns_from_unlabelled()},
                {"unlabelled", editor.file().count_unlabelled()},
                {"feature_dim", settings_.feature_dim},
                {"image_size", settings_.preprocessing.image_size},
                {"shorter_side", settings_.preprocessing.shorter_side()},
                {"calibration", calibration ? calibration_json(*calibration) : json()},
                {"change", last_change_of(editor.file())}};
  });
}

void Api::invite(Invitation invitation) {
  const std::lock_guard lock(invitation_mutex_);
  shared_guard_ = invitation.keys.empty() ? nullptr : std::make_shared<Guard>(invitation.keys);
  invitation_ = std::move(invitation);
}

json Api::show_invitation(const Request& /*request*/) {
  const std::lock_guard lock(invitation_mutex_);
  const std::vector<std::string>& addresses = invitation_.addresses;
  return {{"addresses", addresses},
          {"code", addresses.empty() ? std::vector<std::string>() : qr_code(addresses.front())},
          {"fingerprint", invitation_.fingerprint},
          {"can_share", sharing_.begin != nullptr}};
}

json Api::begin_sharing(const Request& request) {
  if (!sharing_.begin)
    refuse(409, "this server cannot be shared while it runs: stop it, then start it with serve --share");
  refusing(409, sharing_.begin);
  return show_invitation(request);
}

json Api::end_sharing(const Request& request) {
  if (!sharing_.end) refuse(409, "the server was started with --share: stop it to end sharing");
  sharing_.end();
  return show_invitation(request);
}

json Api::readiness(const Request& request) {
  file_.use(request.arrived, [&] {
    readiness_file_.follow();
    return readiness_file_.revision();
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
