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

/// The unlabelled images, with features [u, d].
struct Unsorted {
  std::vector<ExampleInfo> entries;
  Array features = {};
};

Unsorted read_unsorted(const RecognizerFile& file) {
  if (file.count_unlabelled() == 0) return {};
  const RecognizerSnapshot snapshot = file.snapshot();
  return {unlabelled_of(file, snapshot), snapshot.enrolled.unlabelled};
}

}  // namespace

std::vector<ExampleInfo> unlabelled_of(const RecognizerFile& file, const RecognizerSnapshot& snapshot) {
  const Array& features = snapshot.enrolled.unlabelled;
  std::vector<ExampleInfo> entries = file.list_unlabelled();
  if (static_cast<int64_t>(entries.size()) != (features.defined() ? features.size(0) : 0))
    refuse_for_now(503, 1, "another program has just changed the unlabelled images: send the request again");
  return entries;
}

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
    unlabelled_or_404(file, id);
    json shown = enrolled_json(refusing(409, [&] { return file.place({{}, {id}}, editor.describe(named)); }));
    shown["unlabelled"] = file.count_unlabelled();
    shown["change"] = change_json(file.last_made());
    return shown;
  });
}

}  // namespace protocom::http
