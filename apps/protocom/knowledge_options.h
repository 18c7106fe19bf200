#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "cli.h"
#include "knowledge/build.h"

namespace protocom::cli {

/// Options common to the knowledge commands.
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

/// Parses the options and checks what can be checked before the work. Throws.
void prepare(KnowledgeOptions& common);

/// Returns the provenance of a subcommand, including the common inputs.
Provenance make_provenance(const CLI::App& command, const KnowledgeOptions& common);

/// Builds the knowledge of a table, writes it and prints a summary.
void finish(const KnowledgeOptions& common, const AttributeTable& table, const Provenance& provenance);

/// Add subcommands of `knowledge`: `embeddings`, vectors of classes from any text encoder; `text`; `show`, the content
/// of a knowledge file and what is useless in it, and `template`, a table to fill in.
void add_knowledge_embeddings(CLI::App& parent);
void add_knowledge_text(CLI::App& parent);
void add_knowledge_views(CLI::App& parent);

}  // namespace protocom::cli
