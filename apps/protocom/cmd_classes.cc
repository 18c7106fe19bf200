#include "base/log.h"
#include "base/near_matches.h"
#include "base/printed_json.h"
#include "cli.h"
#include "recognizer_views.h"
#include "store/recognizer_file.h"

namespace protocom::cli {
namespace {

using nlohmann::json;

struct ClassesArguments {
  std::string recognizer, name, new_name;
  bool as_json = false;
};

/// Returns attribute -> weight, for the attributes of the class.
json attributes_json(const ClassInfo& entry) {
  json weights = json::object();
  for (const AttributeWeight& attribute : entry.attributes) weights[attribute.name] = attribute.weight;
  return weights;
}

/// Returns the attributes for display.
std::string attributes_text(const RecognizerFile& file, const ClassInfo& entry) {
  std::vector<std::string> texts;
  for (const AttributeWeight& attribute : entry.attributes) {
    const std::string words = file.settings().word_for(attribute.name);
    texts.push_back(attribute.weight == 1.0 ? words : fmt::format("{} {:.2f}", words, attribute.weight));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

json to_json(const ClassInfo& entry) {
  return {{"class", entry.name},    {"title", entry.title},
          {"images", entry.images}, {"attributes", attributes_json(entry)},
          {"enrolled", entry.time}, {"embedding_source", entry.embedding_source}};
}

void print_json(const json& value) { fmt::print("{}\n", printed_json(value)); }

void run_list(const ClassesArguments& options) {
  const RecognizerFile file(options.recognizer, FileUse::kRead);
  std::vector<std::vector<std::string>> rows = {{"class", "title", "images", "attributes", "enrolled"}};
  for (const ClassInfo& entry : file.list_classes()) {
    if (options.as_json) print_json(to_json(entry));
    rows.push_back({entry.name, entry.title, std::to_string(entry.images), std::to_string(entry.attributes.size()),
                    time_text(entry.time)});
  }
  if (!options.as_json) print_table(rows);
}

void run_show(const ClassesArguments& options) {
  const RecognizerFile file(options.recognizer, FileUse::kRead);
  const std::optional<ClassInfo> item = file.find_class(options.name);
  if (!item) {
    std::vector<std::string> names;
    for (const ClassInfo& entry : file.list_classes()) names.push_back(entry.name);
    fail("{} has no class '{}'{}", options.recognizer, options.name, did_you_mean(options.name, names));
  }
  if (options.as_json) return print_json(to_json(*item));
  const bool says_all = logger().writes(LogLevel::kDebug);
  std::vector<std::vector<std::string>> rows = {
      {"class", item->name}, {"title", item->title}, {"images", std::to_string(item->images)}};
  if (says_all || !item->attributes.empty()) rows.push_back({"attributes", attributes_text(file, *item)});
  if (says_all || item->embedding_source != "nothing") rows.push_back({"embedding from", item->embedding_source});
  rows.push_back({"enrolled", time_text(item->time)});
  print_table(rows);
}

void run_rename(const ClassesArguments& options) {
  RecognizerFile(options.recognizer).rename_class(options.name, options.new_name);
  fmt::print("'{}' was renamed to '{}'\n", options.name, options.new_name);
}

void run_remove(const ClassesArguments& options) {
  RecognizerFile(options.recognizer).remove_class(options.name);
  fmt::print("'{}' was removed (protocom undo {} restores it)\n", options.name, options.recognizer);
}

void run_merge(const ClassesArguments& options) {
  RecognizerFile file(options.recognizer);
  const int64_t added = file.merge_class(options.name, options.new_name);
  fmt::print("'{}' was merged into '{}', with {} more image{} (protocom undo {} reverts it)\n", options.name,
             options.new_name, added, added == 1 ? "" : "s", options.recognizer);
}

CLI::App* add(CLI::App& parent, const char* name, const char* description, const std::string& more,
              void (*run)(const ClassesArguments&), const std::shared_ptr<ClassesArguments>& options) {
  CLI::App* command =
      add_command(parent, name, description, fmt::format("protocom classes {} birds.pcm{}", name, more));
  add_input_option(*command, "recognizer", options->recognizer, "Recognizer")->required();
  command->callback([options, run] { run(*options); });
  return command;
}

void add_classes_command(CLI::App& app) {
  CLI::App* command = add_command(app, "classes", "List, show, rename, merge and remove the classes of a recognizer",
                                  "protocom classes list birds.pcm");
  command->require_subcommand(1);
  auto options = std::make_shared<ClassesArguments>();
  CLI::App* list = add(*command, "list", "All classes", "", &run_list, options);
  list->add_flag("--json", options->as_json, "An object per line");
  CLI::App* show = add(*command, "show", "One class and its attributes", " okapi", &run_show, options);
  show->add_option("class", options->name, "Name of the class")->required();
  show->add_flag("--json", options->as_json, "As JSON");
  CLI::App* rename =
      add(*command, "rename", "Give a class another name", " okapi \"Okapia johnstoni\"", &run_rename, options);
  rename->add_option("class", options->name, "Name of the class")->required();
  rename->add_option("new", options->new_name, "New name")->required();
  CLI::App* merge = add(*command, "merge", "Move the images of a class to another one, and remove it", " okapi2 okapi",
                        &run_merge, options);
  merge->add_option("class", options->name, "Name of the class")->required();
  merge->add_option("into", options->new_name, "Class to merge it into")->required();
  CLI::App* remove = add(*command, "remove", "Remove a class with its images", " okapi", &run_remove, options);
  remove->add_option("class", options->name, "Name of the class")->required();
}

const Command kClasses{Group::kOwnPhotos, 70, &add_classes_command};

}  // namespace
}  // namespace protocom::cli
