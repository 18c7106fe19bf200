#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "cli.h"
#include "protocom/knowledge/build.h"

namespace protocom::cli {

/// What the knowledge commands share, whatever their source.
struct KnowledgeOptions {
  std::string split, vectors, out, json;
  BuildOptions build;
};

/// Adds --split and --vocabulary.
void add_split_options(CLI::App& command, KnowledgeOptions& common);
/// Adds --out and --json.
void add_output_options(CLI::App& command, KnowledgeOptions& common);
/// Adds both, and --vectors and --embedding-dim.
void add_common_options(CLI::App& command, KnowledgeOptions& common);

/// Parses them and checks what can be checked before the work. Throws.
void prepare(KnowledgeOptions& common);

/// The provenance of a subcommand, with what all of them read.
Provenance make_provenance(const CLI::App& command, const KnowledgeOptions& common);

/// Builds the knowledge of a table, writes it and prints what it is.
void finish(const KnowledgeOptions& common, const AttributeTable& table, const Provenance& provenance);

}  // namespace protocom::cli
