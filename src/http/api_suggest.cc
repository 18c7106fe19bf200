#include <algorithm>

#include "base/error.h"
#include "http/detail/api.h"
#include "recognizer/results_json.h"
#include "recognizer/suggest_photos.h"

namespace protocom::http {
namespace {

using nlohmann::json;

constexpr int64_t kMostSuggested = 100;
constexpr int64_t kUsuallySuggested = 8;

/// The unlabelled images with their features [u, d].
struct Unsorted {
  std::vector<ExampleInfo> entries;
  Array features = {};
};

Unsorted read_unsorted(const RecognizerFile& file) {
  Unsorted all = {file.list_unlabelled()};
  if (all.entries.empty()) return all;
  all.features = file.snapshot().enrolled.unlabelled;
  const int64_t held = all.features.defined() ? all.features.size(0) : 0;
  if (held != static_cast<int64_t>(all.entries.size()))
    refuse_for_now(503, 1, "another program has just changed the unlabelled images: send the request again");
  return all;
}

/// One of them as an example of a class.
NewExamples example_of(const RecognizerFile& file, const Unsorted& all, size_t place) {
  const ExampleInfo& entry = all.entries[place];
  const auto row = static_cast<int64_t>(place);
  NewExamples example;
  example.features = all.features.rows(row, row + 1);
  example.hashes = {entry.hash};
  example.sources = {entry.source};
  example.taken = {entry.taken};
  example.thumbnails = {file.unlabelled_thumbnail(entry.id)};
  return example;
}

size_t place_or_404(const Unsorted& all, int64_t id) {
  for (size_t i = 0; i < all.entries.size(); ++i) {
    if (all.entries[i].id == id) return i;
  }
  refuse(404, "unknown unlabelled image {}", id);
}

/// Adds the numbers of the file's last change, if there was one.
void note_change(const RecognizerFile& file, json& changes) {
  if (file.last_made()) changes.push_back(change_json(file.last_made()));
}

}  // namespace

json Api::suggest_next(const Request& request) {
  const int64_t count = count_in(request, "count", 1, kMostSuggested, kUsuallySuggested);
  return with_editor(request, [&](Recognizer& editor) {
    const Unsorted all = read_unsorted(editor.file());
    json photos = json::array();
    if (all.entries.empty()) return json{{"photos", photos}, {"images", 0}};
    NewExamples images = {all.features, {}};
    for (const ExampleInfo& entry : all.entries) {
      images.hashes.push_back(entry.hash);
      images.sources.push_back(file_name_of(entry.source));
    }
    const Suggestions found = refusing(409, [&] { return suggest_rows(editor, images, count); });
    json shown = suggestions_json(found)["images"];
    for (json& one : shown) {
      one["photo"] = all.entries[one["row"].get<size_t>()].id;
      one["source"] = one["image"];
      for (const char* inner : {"row", "image"}) one.erase(inner);
      photos.push_back(std::move(one));
    }
    return json{{"photos", photos}, {"images", all.entries.size()}};
  });
}

json Api::label_unlabelled(const Request& request) {
  const int64_t id = id_of(request.parameters.at("photo"));
  const json body = read_json_body(request.body, shape_of(request, {"class"})).members;
  if (!body.contains("class")) refuse(400, "give the photo's class: {{\"class\": \"okapi\"}}");
  const ClassToDescribe named{new_class_name_in(text_in(body, "class"))};
  return with_editor(request, [&](Recognizer& editor) {
    RecognizerFile& file = editor.file();
    const Unsorted all = read_unsorted(file);
    const NewExamples photo = example_of(file, all, place_or_404(all, id));
    json changes = json::array();
    const EnrolledClass done = refusing(409, [&] { return editor.enrol_class(named, photo); });
    if (done.added > 0 || done.is_new) note_change(file, changes);
    refusing(409, [&] { file.remove_unlabelled({id}); });
    note_change(file, changes);
    json shown = enrolled_json(done);
    shown["unlabelled"] = file.count_unlabelled();
    shown["changes"] = changes;
    return shown;
  });
}

}  // namespace protocom::http
