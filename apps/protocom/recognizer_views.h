#pragma once
#include <cstdint>
#include <string>

#include "recognizer/recognizer.h"
#include "store/recognizer_file.h"

namespace protocom::cli {

/// Opens a recognizer read-only.
Recognizer open_to_read(const std::filesystem::path& file);

/// Prints what a recognizer is made of and how much it holds.
void print_info(const RecognizerFile& file);

/// "2026-11-22 10:30", UTC, of seconds since 1970.
std::string time_text(int64_t seconds);

}  // namespace protocom::cli
