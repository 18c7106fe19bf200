#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "knowledge/knowledge.h"
#include "store/recognizer_file.h"

namespace protocom::cli {

/// Prints what a recognizer is made of and how much it holds.
void print_info(const RecognizerFile& file);

/// What a recognizer was made with; nothing where that was without knowledge.
std::optional<Knowledge> knowledge_of(const RecognizerFile& file);

/// "2026-11-22 10:30", UTC, of seconds since 1970.
std::string time_text(int64_t seconds);

}  // namespace protocom::cli
