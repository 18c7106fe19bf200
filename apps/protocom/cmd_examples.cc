#include "base/printed_json.h"
#include "cli.h"
#include "recognizer_views.h"
#include "store/recognizer_file.h"

namespace protocom::cli {
namespace {

using nlohmann::json;

struct ExamplesArguments {
  std::string recognizer, name;  ///< of the class
  std::vector<int64_t> ids;
  bool as_json = false;
};

void run_list(const ExamplesArguments& options) {
  std::vector<std::vector<std::string>> rows = {{"example", "class", "source", "enrolled", "hash"}};
  for (const ExampleInfo& entry : RecognizerFile(options.recognizer, FileUse::kRead).list_examples(options.name)) {
    if (options.as_json) {
      const json line = {{"example", entry.id},    {"class", entry.class_name}, {"source", entry.source},
                         {"enrolled", entry.time}, {"hash", entry.hash},        {"confirmed", entry.confirmed}};
      fmt::print("{}\n", printed_json(line));
    }
    rows.push_back({std::to_string(entry.id), entry.class_name, entry.source, time_text(entry.time), entry.hash});
  }
  if (!options.as_json) print_table(rows);
}

std::string images_text(size_t count) { return fmt::format("{} image{}", count, count == 1 ? "" : "s"); }

void run_remove(const ExamplesArguments& options) {
  RecognizerFile(options.recognizer).remove_examples(options.ids);
  fmt::print("removed {} (protocom undo {} restores what was removed)\n", images_text(options.ids.size()),
             options.recognizer);
}

void run_move(const ExamplesArguments& options) {
  const auto moved = static_cast<size_t>(RecognizerFile(options.recognizer).move_examples(options.ids, options.name));
  const size_t held = options.ids.size() - moved;
  fmt::print("moved {} to '{}'{} (protocom undo {} reverts it)\n", images_text(moved), options.name,
             held == 0 ? "" : fmt::format(", and removed {} that it has already", images_text(held)),
             options.recognizer);
}

void run_confirm(const ExamplesArguments& options) {
  if (RecognizerFile(options.recognizer).confirm_examples(options.ids) == 0)
    return fmt::print("confirmed already: {}\n", images_text(options.ids.size()));
  fmt::print("confirmed {}: recognizer check no longer lists {} (protocom undo {} reverts it)\n",
             images_text(options.ids.size()), options.ids.size() == 1 ? "it" : "them", options.recognizer);
}

void add_examples_command(CLI::App& app) {
  CLI::App* command = add_command(app, "examples", "List, move, confirm and remove the enrolled images of a recognizer",
                                  "protocom examples list birds.pcm --class okapi");
  command->require_subcommand(1);
  auto options = std::make_shared<ExamplesArguments>();
  CLI::App* list = add_command(*command, "list", "Enrolled images and their numbers",
                               "protocom examples list birds.pcm --class okapi");
  add_input_option(*list, "recognizer", options->recognizer, "Recognizer")->required();
  list->add_option("--class", options->name, "Only images of this class");
  list->add_flag("--json", options->as_json, "An object per line");
  list->callback([options] { run_list(*options); });
  CLI::App* move = add_command(*command, "move", "Move images to another class, by their numbers in examples list",
                               "protocom examples move birds.pcm 17 18 --class okapi");
  add_input_option(*move, "recognizer", options->recognizer, "Recognizer")->required();
  move->add_option("examples", options->ids, "Numbers of the images (examples list, recognizer check)")->required();
  move->add_option("--class", options->name, "Class to move them to")->required();
  move->callback([options] { run_move(*options); });
  CLI::App* confirm = add_command(*command, "confirm", "Keep that images are in the right class, by their numbers",
                                  "protocom examples confirm birds.pcm 17 18");
  add_input_option(*confirm, "recognizer", options->recognizer, "Recognizer")->required();
  confirm->add_option("examples", options->ids, "Numbers of the images (recognizer check)")->required();
  confirm->callback([options] { run_confirm(*options); });
  CLI::App* remove = add_command(*command, "remove", "Remove images, by their numbers in examples list",
                                 "protocom examples remove birds.pcm 17 18");
  add_input_option(*remove, "recognizer", options->recognizer, "Recognizer")->required();
  remove->add_option("examples", options->ids, "Numbers of the images (examples list, recognizer check)")->required();
  remove->callback([options] { run_remove(*options); });
}

const Command kExamples{Group::kOwnPhotos, 80, &add_examples_command};

}  // namespace
}  // namespace protocom::cli
