#include "cli.h"
#include "protocom/serve/recognizer_file.h"

namespace protocom::cli {
namespace {

void add_undo_command(CLI::App& app) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = add_command(app, "undo", "Take the last change of a recognizer back; again: the one before",
                                  "protocom undo birds.pcm");
  command->add_option("recognizer", *file, "Recognizer")->required();
  command->callback([file] { fmt::print("undone: {}\n", one_line(RecognizerFile(*file).undo().what)); });
}

const Command kUndo{Order::kUndo, &add_undo_command};

}  // namespace
}  // namespace protocom::cli
