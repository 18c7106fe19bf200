#pragma once
#include <CLI/CLI.hpp>

namespace protocom::cli {

/// Adds `knowledge embeddings`: vectors of classes from any encoder of texts.
void add_knowledge_embeddings(CLI::App& parent);

}  // namespace protocom::cli
