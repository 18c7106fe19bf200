#include <fstream>
#include <string_view>

#include "entry.h"
#include "help_pages.h"

namespace {

bool write_help_pages(const char* path) {
  std::ofstream file(path);
  file << protocom::cli::help_pages_source() << std::flush;
  return file.good();
}

}  // namespace

// Users start launcher/launcher.cc, which executes this program. The build runs it to generate the launcher's answers.
int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--write-help-pages") return write_help_pages(argv[2]) ? 0 : 1;
  protocom::cli::run_program(argc, argv);
}
