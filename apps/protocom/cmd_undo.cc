#include "cli.h"
#include "recognizer_views.h"
#include "store/recognizer_file.h"

namespace protocom::cli {
namespace {

struct UndoArguments {
  std::string recognizer;
  bool list = false;
};

constexpr int64_t kShown = 20;

/// Prints what each call would undo or redo, the next one first.
void print_steps(const char* command, const std::vector<ChangeEntry>& steps) {
  std::vector<std::vector<std::string>> rows = {{command, "change", "time"}};
  for (const ChangeEntry& entry : steps)
    rows.push_back({std::to_string(rows.size()), one_line(entry.what), time_text(entry.time)});
  print_table(rows);
}

void run_undo(const UndoArguments& options) {
  RecognizerFile file(options.recognizer, options.list ? FileUse::kRead : FileUse::kChange);
  if (options.list) return print_steps("undo", file.changes(kShown));
  fmt::print("undone: {}\nprotocom redo {} repeats it\n", one_line(file.undo().what), options.recognizer);
  const std::vector<ChangeEntry> next = file.changes(1);
  if (!next.empty()) fmt::print("the next undo reverts: {}\n", one_line(next.front().what));
}

void run_redo(const UndoArguments& options) {
  RecognizerFile file(options.recognizer, options.list ? FileUse::kRead : FileUse::kChange);
  if (options.list) return print_steps("redo", file.undone(kShown));
  fmt::print("redone: {}\n", one_line(file.redo().what));
  const std::vector<ChangeEntry> next = file.undone(1);
  if (!next.empty()) fmt::print("the next redo repeats: {}\n", one_line(next.front().what));
}

void add_undo_command(CLI::App& app) {
  auto options = std::make_shared<UndoArguments>();
  CLI::App* command = add_command(app, "undo", "Revert the last change of a recognizer; again: the one before",
                                  "protocom undo birds.pcm --list\n"
                                  "  protocom undo birds.pcm");
  add_input_option(*command, "recognizer", options->recognizer, "Recognizer")->required();
  command->add_flag("--list", options->list, "Show what each call would revert, and change nothing");
  command->callback([options] { run_undo(*options); });
}

void add_redo_command(CLI::App& app) {
  auto options = std::make_shared<UndoArguments>();
  CLI::App* command = add_command(app, "redo", "Repeat a change that undo reverted; again: the one after it",
                                  "protocom redo birds.pcm --list\n"
                                  "  protocom redo birds.pcm");
  add_input_option(*command, "recognizer", options->recognizer, "Recognizer")->required();
  command->add_flag("--list", options->list, "Show what each call would repeat, and change nothing");
  command->callback([options] { run_redo(*options); });
}

const Command kUndo{Group::kOwnPhotos, 90, &add_undo_command};
const Command kRedo{Group::kOwnPhotos, 100, &add_redo_command};

}  // namespace
}  // namespace protocom::cli
