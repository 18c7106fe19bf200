#include "help_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "commands.h"

namespace protocom::cli {
namespace {

using Words = std::vector<std::string>;

/// Returns what the program prints, computed as the program does.
std::string answer_to(Words words) {
  const auto app = make_app();
  std::reverse(words.begin(), words.end());  // CLI11 takes them in reverse
  std::ostringstream out, err;
  try {
    app->parse(std::move(words));
  } catch (const CLI::Success& request) {
    app->exit(request, out, err);
  }
  return out.str();
}

std::string string_literal(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '\n') {
      literal += "\\n\"\n    \"";
    } else {
      if (c == '"' || c == '\\') literal += '\\';
      literal += c;
    }
  }
  return literal + "\"";
}

void add_pages(const CLI::App& command, const Words& path, std::string& entries) {
  Words asked = path;
  asked.emplace_back("--help");
  entries += fmt::format("    {{\"{}\",\n    {}}},\n", fmt::join(path, " "), string_literal(answer_to(asked)));
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; })) {
    Words words = path;
    words.push_back(below->get_name());
    add_pages(*below, words, entries);
  }
}

}  // namespace

std::string help_pages_source() {
  std::string entries;
  add_pages(*make_app(), {}, entries);
  return fmt::format(R"(// Written by the program.
#include "pages.h"

namespace protocom::launcher {{
const Page kPages[] = {{
{}}};
const size_t kPageCount = sizeof kPages / sizeof *kPages;
const char* const kVersion = {};
}}  // namespace protocom::launcher
)",
                     entries, string_literal(answer_to({"--version"})));
}

}  // namespace protocom::cli
