#include <algorithm>
#include <map>

#include "http/detail/api.h"
#include "io/files.h"

namespace protocom::http {
namespace {

using nlohmann::json;

constexpr int64_t kMostChanges = 200;  ///< in a list of them

/// Returns the attributes of a class with their weights, largest first.
json attributes_json(std::vector<AttributeWeight> attributes) {
  std::stable_sort(attributes.begin(), attributes.end(),
                   [](const AttributeWeight& a, const AttributeWeight& b) { return a.weight > b.weight; });
  json list = json::array();
  for (const AttributeWeight& attribute : attributes)
    list.push_back({{"name", attribute.name}, {"weight", attribute.weight}});
  return list;
}

json class_json(const ClassInfo& entry) {
  return {{"class", entry.name},
          {"title", entry.title},
          {"images", entry.images},
          {"time", entry.time},
          {"embedding_source", entry.embedding_source},
          {"attributes", attributes_json(entry.attributes)}};
}

/// Returns the change that a body names to undo or redo; nothing: the next one.
std::optional<int64_t> change_asked_for(const std::string& body, const JsonShape& shape) {
  if (body.empty()) return std::nullopt;
  const json asked = read_json_body(body, shape).members;
  if (!asked.contains("change")) return std::nullopt;
  if (!asked["change"].is_number_unsigned()) refuse(400, "'change': expected the number of a change");
  return asked["change"].get<int64_t>();
}

void check_free(const RecognizerFile& file, const std::string& name) {
  if (file.find_class(name)) refuse(409, "the class '{}' exists already", excerpt(name));
}

}  // namespace

std::string file_name_of(const std::string& source) { return source.substr(source.find_last_of('/') + 1); }

json Api::list_classes(const Request& request) {
  return with_editor(request, [&](const Recognizer& editor) {
    json classes = json::array();
    for (const ClassInfo& entry : editor.file().list_classes()) classes.push_back(class_json(entry));
    return json{{"classes", classes},
                {"revision", editor.file().revision()},
                {"change", last_change_of(editor.file())},
                {"redo", next_redo_of(editor.file())}};
  });
}

json Api::show_class(const Request& request) {
  const std::string name = class_name_in(request.parameters.at("class"));
  return with_editor(request, [&](const Recognizer& editor) {
    json shown = class_json(class_or_404(editor.file(), name));
    shown["examples"] = json::array();
    for (const ExampleInfo& entry : editor.file().list_examples(name))
      shown["examples"].push_back({{"example", entry.id},
                                   {"source", file_name_of(entry.source)},
                                   {"time", entry.time},
                                   {"confirmed", entry.confirmed}});
    return shown;
  });
}

void Api::check_class(const Request& request, const ClassToDescribe& described) {
  with_editor(request, [&](Recognizer& editor) { return refusing(400, [&] { return editor.describe(described); }); });
}

json Api::change_class(const Request& request) {
  const std::string name = class_name_in(request.parameters.at("class"));
  const json body = read_json_body(request.body, shape_of(request, {"name", "attributes"})).members;
  if (body.size() != 1) refuse(400, "give either a name or attributes: each is a change that can be undone");
  ClassToDescribe described;
  described.name = name;
  if (body.contains("attributes")) read_attributes_member(body, "attributes", described);
  if (body.contains("attributes") && described.attributes.empty()) refuse(400, "give at least one attribute");
  if (!described.attributes.empty()) check_class(request, described);
  const std::string new_name = body.contains("name") ? new_class_name_in(text_in(body, "name")) : name;
  return with_editor(request, [&](Recognizer& editor) {
    RecognizerFile& file = editor.file();
    json changed = class_json(class_or_404(file, name));
    changed["change"] = json();
    if (new_name == name && described.attributes.empty()) return changed;
    if (new_name != name) {
      check_free(file, new_name);
      refusing(409, [&] { file.rename_class(name, new_name); });
    } else {
      editor.enrol_class(described);
    }
    changed = class_json(class_or_404(file, new_name));
    changed["change"] = change_json(file.last_made());
    return changed;
  });
}

json Api::remove_class(const Request& request) {
  const std::string name = class_name_in(request.parameters.at("class"));
  return with_editor(request, [&](Recognizer& editor) {
    class_or_404(editor.file(), name);
    refusing(409, [&] { editor.file().remove_class(name); });
    return json{{"change", change_json(editor.file().last_made())}};
  });
}

namespace {

/// Returns the new ids of examples of a class in the one that it was merged into; images are matched by hash.
json new_numbers(const std::vector<ExampleInfo>& before, const std::vector<ExampleInfo>& after) {
  std::map<std::string, int64_t> by_hash;
  for (const ExampleInfo& example : after) by_hash.emplace(example.hash, example.id);
  json numbers = json::array();
  for (const ExampleInfo& example : before) {
    const auto found = by_hash.find(example.hash);
    if (found != by_hash.end()) numbers.push_back({{"from", example.id}, {"to", found->second}});
  }
  return numbers;
}

}  // namespace

json Api::merge_class(const Request& request) {
  const std::string name = class_name_in(request.parameters.at("class"));
  const json body = read_json_body(request.body, shape_of(request, {"into"})).members;
  if (!body.contains("into")) refuse(400, "give the class to merge it into: {{\"into\": \"okapi\"}}");
  const std::string into = class_name_in(text_in(body, "into"));
  return with_editor(request, [&](Recognizer& editor) {
    RecognizerFile& file = editor.file();
    class_or_404(file, name);
    class_or_404(file, into);
    const std::vector<ExampleInfo> before = file.list_examples(name);
    const int64_t added = refusing(409, [&] { return file.merge_class(name, into); });
    json merged = class_json(class_or_404(file, into));
    merged["added"] = added;
    merged["examples"] = new_numbers(before, file.list_examples(into));
    merged["change"] = change_json(file.last_made());
    return merged;
  });
}

json Api::turn(const Request& request, ChangeEntry (RecognizerFile::*way)(std::optional<int64_t> only),
               const char* turned) {
  const std::optional<int64_t> asked = change_asked_for(request.body, shape_of(request, {"change"}));
  return with_editor(request, [&](Recognizer& editor) {
    RecognizerFile& file = editor.file();
    const ChangeEntry done = refusing(409, [&] { return (file.*way)(asked); });
    return json{{turned, {{"id", done.id}, {"what", done.what}}},
                {"change", last_change_of(file)},
                {"redo", next_redo_of(file)}};
  });
}

json Api::undo(const Request& request) { return turn(request, &RecognizerFile::undo, "undone"); }

json Api::redo(const Request& request) { return turn(request, &RecognizerFile::redo, "redone"); }

json Api::list_changes(const Request& request) {
  return with_editor(request, [](const Recognizer& editor) {
    json changes = json::array(), undone = json::array();
    for (const ChangeEntry& change : editor.file().changes(kMostChanges)) changes.push_back(change_json(change));
    for (const ChangeEntry& change : editor.file().undone(kMostChanges)) undone.push_back(change_json(change));
    return json{{"changes", changes}, {"undone", undone}};
  });
}

}  // namespace protocom::http
