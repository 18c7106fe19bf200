#pragma once
#include <cstddef>

namespace protocom::launcher {

/// What the program answers to `<command> --help`, or with an empty command to `--help`.
struct Page {
  const char* command;
  const char* text;
};

/// Written by the program itself while it is built (`help_pages.h`).
extern const Page kPages[];
extern const size_t kPageCount;
/// What it answers to `--version`.
extern const char* const kVersion;

}  // namespace protocom::launcher
