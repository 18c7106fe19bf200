#pragma once
#include <CLI/CLI.hpp>

namespace protocom::cli {

/// Adds `knowledge text`.
void add_knowledge_text(CLI::App& parent);

}  // namespace protocom::cli
