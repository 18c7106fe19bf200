#include <unordered_set>

#include "http/detail/api.h"
#include "recognizer/results_json.h"

namespace protocom::http {
namespace {

using nlohmann::json;

/// Returns ids of images, each once.
std::vector<int64_t> numbers_in(const json& members, const char* name) {
  std::vector<int64_t> numbers;
  std::unordered_set<int64_t> known;
  const json listed = members.value(name, json::array());
  if (!listed.is_array()) refuse(400, "'{}': expected a list of numbers", name);
  for (const json& one : listed) {
    if (!one.is_number_integer()) refuse(400, "'{}': expected a list of numbers", name);
    if (known.insert(one.get<int64_t>()).second) numbers.push_back(one.get<int64_t>());
  }
  return numbers;
}

/// Throws HttpError 404 for an id that no image has.
void check_all_there(const std::vector<ExampleInfo>& there, const std::vector<int64_t>& wanted, const char* what) {
  std::unordered_set<int64_t> known;
  for (const ExampleInfo& one : there) known.insert(one.id);
  for (const int64_t id : wanted) {
    if (known.count(id) == 0) refuse(404, "unknown {} {}", what, id);
  }
}

PhotoIds photos_in(const json& members, const RecognizerFile& file) {
  PhotoIds photos = {numbers_in(members, "examples"), numbers_in(members, "unlabelled")};
  if (photos.examples.empty() && photos.unlabelled.empty())
    refuse(400, "give the numbers of images: {{\"examples\": [1, 2], \"unlabelled\": [3]}}");
  if (!photos.examples.empty()) check_all_there(file.list_examples(""), photos.examples, "example");
  if (!photos.unlabelled.empty()) check_all_there(file.list_unlabelled(), photos.unlabelled, "unlabelled image");
  return photos;
}

}  // namespace

json Api::place_photos(const Request& request) {
  const json body = read_json_body(request.body, shape_of(request, {"examples", "unlabelled", "class"})).members;
  if (!body.contains("class")) refuse(400, "give the class of the images: {{\"class\": NAME}}");
  const ClassToDescribe named{new_class_name_in(text_in(body, "class"))};
  return with_editor(request, [&](Recognizer& editor) {
    const PhotoIds photos = photos_in(body, editor.file());
    json shown = enrolled_json(refusing(409, [&] { return editor.file().place(photos, editor.describe(named)); }));
    shown["change"] = change_json(editor.file().last_made());
    return shown;
  });
}

json Api::remove_photos(const Request& request) {
  const json body = read_json_body(request.body, shape_of(request, {"examples", "unlabelled"})).members;
  return with_editor(request, [&](Recognizer& editor) {
    const PhotoIds photos = photos_in(body, editor.file());
    refusing(409, [&] { editor.file().remove(photos); });
    return json{{"change", change_json(editor.file().last_made())}};
  });
}

}  // namespace protocom::http
