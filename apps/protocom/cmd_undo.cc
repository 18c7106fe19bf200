#include "cli.h"
#include "protocom/serve/recognizer_file.h"
#include "recognizer_views.h"

namespace protocom::cli {
namespace {

struct UndoArguments {
  std::string recognizer;
  bool list = false;
};

constexpr int64_t kShown = 20;

/// What each call would take back, the next one first.
void print_steps(const RecognizerFile& file) {
  std::vector<std::vector<std::string>> rows = {{"undo", "change", "time"}};
  for (const ChangeEntry& entry : file.changes(kShown))
    rows.push_back({std::to_string(rows.size()), one_line(entry.what), time_text(entry.time)});
  print_table(rows);
}

void run_undo(const UndoArguments& options) {
  RecognizerFile file(options.recognizer);
  if (options.list) return print_steps(file);
  fmt::print("undone: {}\n", one_line(file.undo().what));
  const std::vector<ChangeEntry> next = file.changes(1);
  if (!next.empty()) fmt::print("again would undo: {}\n", one_line(next.front().what));
}

void add_undo_command(CLI::App& app) {
  auto options = std::make_shared<UndoArguments>();
  CLI::App* command = add_command(app, "undo", "Take the last change of a recognizer back; again: the one before",
                                  "protocom undo birds.pcm --list\n"
                                  "  protocom undo birds.pcm");
  command->add_option("recognizer", options->recognizer, "Recognizer")->required();
  command->add_flag("--list", options->list, "Show what each call would take back, and change nothing");
  command->callback([options] { run_undo(*options); });
}

const Command kUndo{Order::kUndo, &add_undo_command};

}  // namespace
}  // namespace protocom::cli
