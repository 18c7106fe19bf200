#include "base/text.h"
#include "http/detail/api.h"

namespace protocom::http {
namespace {

/// Returns the revision that a client has, negative after undo and compact; nothing: it states none.
std::optional<int64_t> known_revision(const Request& request) {
  const auto said = request.parameters.find("after");
  if (said == request.parameters.end()) return std::nullopt;
  const std::string& text = said->second;
  const std::optional<int64_t> revision = number_from<int64_t>(text);
  if (!revision) refuse(400, "'after': expected the number of a revision, found '{}'", excerpt(text));
  return revision;
}

}  // namespace

RevisionSource Api::revision_source() {
  const auto revision = [this] { return served_revision(Request()); };
  const auto event = [this] {
    return with_editor(Request(), [](const Recognizer& editor) {
      return nlohmann::json{{"revision", editor.file().revision()},
                            {"change", last_change_of(editor.file())},
                            {"redo", next_redo_of(editor.file())}};
    });
  };
  return {revision, event};
}

void Api::follow_changes(const Request& request, const Respond& respond) {
  followers_.add({respond, request.cancellation, known_revision(request)});
}

}  // namespace protocom::http
