#pragma once
#include "cli.h"

namespace protocom::cli {

/// Adds `show`, what a knowledge file holds and what of it is useless, and `template`, a table to fill in.
void add_knowledge_views(CLI::App& parent);

}  // namespace protocom::cli
