#pragma once
#include <cstdint>
#include <string>

#include "recognizer/recognizer.h"
#include "store/recognizer_file.h"

namespace protocom::cli {

/// Opens a recognizer read-only.
Recognizer open_to_read(const std::filesystem::path& file);

/// Prints the parts of a recognizer and how much it contains.
void print_info(const RecognizerFile& file);

/// Returns "2026-11-22 10:30", UTC, for seconds since 1970.
std::string time_text(int64_t seconds);

}  // namespace protocom::cli
