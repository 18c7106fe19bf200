#include "base/error.h"
#include "base/text.h"
#include "base/threads.h"
#include "http/detail/api.h"
#include "io/files.h"
#include "recognizer/class_words.h"
#include "recognizer/results_json.h"

namespace protocom::http {
namespace {

using nlohmann::json;

constexpr size_t kMostDescriptions = 64;

/// A request's content for a class: its description, and images or features.
struct Enrolling {
  ClassToDescribe described;
  std::vector<std::string> warnings = {};  // about the descriptions
  Sent sent;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string_view word : split_at(text, ',')) {
    if (!word.empty()) words.emplace_back(word);
  }
  for (const std::string& word : words) check_label(word, "an attribute");
  return words;
}

/// Splits a text into descriptions, one per line.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view piece : split_at(text, '\n')) {
    if (const std::string_view line = trimmed(piece); !line.empty()) lines.emplace_back(line);
  }
  for (const std::string& line : lines) check_description(line);
  return lines;
}

Enrolling enrolling_of(const std::string& name, Sent sent) {
  Enrolling read;
  read.described.name = name;
  read.sent = std::move(sent);
  const json& members = read.sent.members;
  const auto& fields = read.sent.fields;
  if (members.contains("attributes")) read_attributes_member(members, "attributes", read.described);
  if (members.contains("descriptions")) read.described.descriptions = descriptions_in(members, "descriptions");
  if (fields.count("attributes") > 0) read.described.attributes = split(fields.at("attributes"));
  if (fields.count("descriptions") > 0) read.described.descriptions = lines_of(fields.at("descriptions"));
  return read;
}

Response add_to_file(Recognizer& recognizer, const Enrolling& what, const Array& features) {
  const NewExamples examples = examples_of(what.sent, features, recognizer);
  const EnrolledClass done = recognizer.enrol_class(what.described, examples);
  std::vector<std::string> warnings = what.warnings;
  for (std::string& one : recognizer.images_elsewhere(done.now.name, examples.hashes))
    warnings.push_back(std::move(one));
  json shown = enrolled_json(done);
  shown["unreadable"] = unreadable_json(what.sent.images);
  shown["warnings"] = warnings;
  shown["change"] = change_json(recognizer.file().last_made());
  return json_response(shown, done.is_new ? 201 : 200);
}

}  // namespace

std::vector<std::string> Api::set_text_vector(ClassToDescribe& of) const {
  if (of.descriptions.empty()) return {};
  if (text_encoder_ == nullptr)
    refuse(400, "classes cannot be described in words here: the server has no text encoder (serve --text-encoder)");
  if (of.descriptions.size() > kMostDescriptions) refuse(400, "a class has at most {} descriptions", kMostDescriptions);
  const ThreadScope one_thread(1);  // the other threads are for the backbone
  const std::string warning = refusing(400, [&] { return protocom::set_text_vector(*text_encoder_, of); });
  return warning.empty() ? std::vector<std::string>{} : std::vector<std::string>{warning};
}

void Api::enrol(const Request& request, const Respond& respond) {
  const std::string name = new_class_name_in(request.parameters.at("class"));
  auto what =
      std::make_shared<Enrolling>(enrolling_of(name, read(request, with_box_fields({"attributes", "descriptions"}))));
  const bool described = !what->described.says_nothing();
  if (what->sent.images.empty() && !what->sent.features.defined() && !described)
    refuse(400, "give images, features, attributes or descriptions of the class");
  what->warnings = set_text_vector(what->described);
  if (described) check_class(request, what->described);
  with_features(request, what->sent, respond, [this, what, respond](const Request& now, const Array& features) {
    respond(with_editor(now, [&](Recognizer& editor) { return add_to_file(editor, *what, features); }));
  });
}

nlohmann::json Api::remove_example(const Request& request) {
  const int64_t id = id_of(request.parameters.at("example"));
  return with_editor(request, [&](Recognizer& editor) {
    example_or_404(editor.file(), id);
    refusing(409, [&] { editor.file().remove_examples({id}); });
    return nlohmann::json{{"change", change_json(editor.file().last_made())}};
  });
}

nlohmann::json Api::change_example(const Request& request) {
  const int64_t id = id_of(request.parameters.at("example"));
  const nlohmann::json body = read_json_body(request.body, shape_of(request, {"class", "confirmed"})).members;
  if (body.size() != 1)
    refuse(400, "give either the class to move the image to, {{\"class\": NAME}}, or {{\"confirmed\": true}}");
  const bool moves = body.contains("class");
  if (!moves && body["confirmed"] != true) refuse(400, "'confirmed': expected true; undo takes a confirmation back");
  const std::string into = moves ? class_name_in(text_in(body, "class")) : "";
  return with_editor(request, [&](Recognizer& editor) {
    RecognizerFile& file = editor.file();
    example_or_404(file, id);
    if (moves) class_or_404(file, into);
    refusing(409, [&] {
      if (moves)
        file.move_examples({id}, into);
      else
        file.confirm_examples({id});
    });
    return nlohmann::json{{"change", change_json(file.last_made())}};
  });
}

Response Api::thumbnail(const Request& request) {
  const int64_t id = id_of(request.parameters.at("example"));
  const std::string jpeg = with_editor(request, [&](const Recognizer& editor) {
    example_or_404(editor.file(), id);
    return editor.file().thumbnail(id);
  });
  if (jpeg.empty()) refuse(404, "example {} has no thumbnail", id);
  return {200, "image/jpeg", jpeg};
}

}  // namespace protocom::http
