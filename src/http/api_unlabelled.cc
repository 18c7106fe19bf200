#include "base/error.h"
#include "http/detail/api.h"

namespace protocom::http {
namespace {

using nlohmann::json;

/// Throws HttpError 409 if adding `more` would exceed the limit.
void check_takes(Recognizer& recognizer, int64_t more) {
  recognizer.check_learns_from_unlabelled();
  const int64_t held = recognizer.file().count_unlabelled();
  if (held + more > kMostUnlabelled)
    refuse(409, "{} unlabelled images and {} new ones exceed the limit of {}: remove some first", held, more,
           kMostUnlabelled);
}

}  // namespace

ExampleInfo unlabelled_or_404(const RecognizerFile& file, int64_t id) {
  for (const ExampleInfo& entry : file.list_unlabelled()) {
    if (entry.id == id) return entry;
  }
  refuse(404, "unknown unlabelled image {}", id);
}

json Api::list_unlabelled(const Request& request) {
  return with_editor(request, [&](const Recognizer& editor) {
    json photos = json::array();
    for (const ExampleInfo& entry : editor.file().list_unlabelled())
      photos.push_back({{"photo", entry.id}, {"source", file_name_of(entry.source)}, {"time", entry.time}});
    return json{{"images", photos.size()}, {"most", kMostUnlabelled}, {"photos", photos}};
  });
}

void Api::add_unlabelled(const Request& request, const Respond& respond) {
  const auto sent = std::make_shared<Sent>(read(request, {}));
  const int64_t count = sent->features.defined() ? sent->features.size(0) : static_cast<int64_t>(sent->images.size());
  if (count == 0) refuse(400, "give images or features");
  with_editor(request, [&](Recognizer& editor) {
    refusing(409, [&] { check_takes(editor, count); });
    return 0;
  });
  with_features(request, *sent, respond, [this, sent, respond](const Request& now, const Array& features) {
    respond(with_editor(now, [&](Recognizer& editor) {
      RecognizerFile& file = editor.file();
      const NewExamples images = examples_of(*sent, features, editor);
      const int64_t added = refusing(409, [&] { return file.add_unlabelled(images); });
      return json_response({{"added", added},
                            {"held", static_cast<int64_t>(images.hashes.size()) - added},
                            {"images", file.count_unlabelled()},
                            {"unreadable", unreadable_json(sent->images)},
                            {"change", change_json(file.last_made())}});
    }));
  });
}

json Api::remove_unlabelled(const Request& request) {
  const int64_t id = id_of(request.parameters.at("photo"));
  return with_editor(request, [&](Recognizer& editor) {
    unlabelled_or_404(editor.file(), id);
    refusing(409, [&] { editor.file().remove_unlabelled({id}); });
    return json{{"images", editor.file().count_unlabelled()}, {"change", change_json(editor.file().last_made())}};
  });
}

json Api::remove_all_unlabelled(const Request& request) {
  return with_editor(request, [&](Recognizer& editor) {
    const int64_t removed = refusing(409, [&] { return editor.file().remove_all_unlabelled(); });
    return json{{"removed", removed}, {"change", change_json(editor.file().last_made())}};
  });
}

Response Api::unlabelled_thumbnail(const Request& request) {
  const int64_t id = id_of(request.parameters.at("photo"));
  const std::string jpeg = with_editor(request, [&](const Recognizer& editor) {
    unlabelled_or_404(editor.file(), id);
    return editor.file().unlabelled_thumbnail(id);
  });
  if (jpeg.empty()) refuse(404, "unlabelled image {} has no thumbnail", id);
  return {200, "image/jpeg", jpeg};
}

}  // namespace protocom::http
