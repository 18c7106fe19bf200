#include <memory>

#include "knowledge/class_vectors.h"
#include "knowledge/tables.h"
#include "knowledge_options.h"

namespace protocom::cli {
namespace {

struct EmbeddingsCommand {
  KnowledgeOptions common;
  std::vector<std::string> vectors;
  std::string names, csv;
};

/// Returns the classes of the vectors, without attributes.
AttributeTable table_of(const ClassVectors& vectors, const std::string& file) {
  AttributeTable table;
  table.classes = vectors.classes;
  table.association = Array::zeros({static_cast<int64_t>(vectors.classes.size()), 0});
  table.source = {{"kind", "embeddings"}, {"file", file}};
  return table;
}

void run_embeddings(const CLI::App& command, EmbeddingsCommand& options) {
  prepare(options.common);
  BuildOptions& build = options.common.build;
  const std::vector<std::filesystem::path> files(options.vectors.begin(), options.vectors.end());
  std::vector<ClassVectors> sources;
  for (const std::filesystem::path& file : files)
    sources.push_back(read_class_vectors(file, file.extension() == ".npy" ? options.names : ""));
  build.class_vectors = join_class_vectors(sources, files);
  build.class_vectors_file = files.front();
  build.further_vectors_files.assign(files.begin() + 1, files.end());
  const AttributeTable table =
      options.csv.empty() ? table_of(*build.class_vectors, files.front().string()) : read_attributes(options.csv);
  Provenance provenance = make_provenance(command, options.common);
  for (size_t i = 0; i < files.size(); ++i)
    add_input(provenance, i == 0 ? "vectors" : fmt::format("vectors {}", i + 1), files[i]);
  add_input(provenance, "names", options.names);
  add_input(provenance, "csv", options.csv);
  finish(options.common, table, provenance);
}

}  // namespace

void add_knowledge_embeddings(CLI::App& parent) {
  auto options = std::make_shared<EmbeddingsCommand>();
  CLI::App* command = add_command(parent, "embeddings", "A vector for each class, from any encoder of texts",
                                  "protocom knowledge embeddings --vectors clip-text.npz --out knowledge.npz\n"
                                  "protocom knowledge embeddings --vectors text.npy --names classes.txt --csv "
                                  "attributes.csv --split split.csv --out knowledge.npz\n"
                                  "protocom knowledge embeddings --vectors clip-text.npz --vectors glove.npz --csv "
                                  "attributes.csv --out knowledge.npz");
  add_input_option(*command, "--vectors", options->vectors,
                   "npz with `vectors` and `names`, npy (with --names), or CSV with a name and its numbers per row; a "
                   "class may have several rows; repeated: several sources (texts, word vectors), whose weights "
                   "fit chooses")
      ->allow_extra_args(false)
      ->take_all()
      ->required();
  add_input_option(*command, "--names", options->names, "Text file: the class of each row of the npy, a name per line");
  add_input_option(*command, "--csv", options->csv,
                   "CSV with the columns class,attribute[,weight]: attributes beside the vectors");
  add_split_options(*command, options->common);
  add_output_options(*command, options->common);
  command->callback([command, options] { run_embeddings(*command, *options); });
}

}  // namespace protocom::cli
