#include <optional>

#include "knowledge/tables.h"
#include "knowledge/wordnet_attributes.h"
#include "knowledge_options.h"

namespace protocom::cli {
namespace {

struct WordNetCommand {
  KnowledgeOptions common;
  std::string database = kWordNetFolder, class_synsets;
  std::vector<std::string> relations = {"part"};
};

struct TableCommand {
  KnowledgeOptions common;
  std::string path;                                      ///< a CSV, or the folder of a data set
  double threshold = *CubAttributesOptions().threshold;  ///< for CUB only
  bool continuous = false;                               ///< for CUB and AwA2
};

/// A source of attributes in a table file.
struct TableSource {
  const char* input;  ///< name of the file in the provenance
  AttributeTable (*read)(const TableCommand& options);
};

void run_wordnet(const CLI::App& command, WordNetCommand& options) {
  prepare(options.common);
  WordNetAttributesOptions attributes;
  attributes.relations.clear();
  for (const std::string& relation : options.relations) attributes.relations.push_back(parse_meronym(relation));
  if (!options.class_synsets.empty()) attributes.class_synsets = read_class_synsets(options.class_synsets);
  const WordNet wordnet(options.database);
  std::vector<std::string> classes = options.common.build.sides->base;
  classes.insert(classes.end(), options.common.build.sides->unseen.begin(), options.common.build.sides->unseen.end());
  Provenance provenance = make_provenance(command, options.common);
  add_input(provenance, "wordnet", std::filesystem::path(options.database) / "data.noun");
  add_input(provenance, "class-synsets", options.class_synsets);
  finish(options.common, wordnet_attributes(wordnet, classes, attributes), provenance);
}

void run_table(const CLI::App& command, TableCommand& options, const TableSource& source) {
  prepare(options.common);
  const AttributeTable table = source.read(options);
  Provenance provenance = make_provenance(command, options.common);
  add_input(provenance, source.input, table.source.at("file").get<std::string>());
  finish(options.common, table, provenance);
}

AttributeTable read_cub(const TableCommand& options) {
  CubAttributesOptions attributes;
  attributes.threshold = options.continuous ? std::nullopt : std::optional(options.threshold);
  return read_cub_attributes(options.path, attributes);
}

AttributeTable read_awa2(const TableCommand& options) {
  return read_awa2_attributes(options.path, options.continuous ? Awa2Weights::kContinuous : Awa2Weights::kBinary);
}

void add_wordnet(CLI::App& parent) {
  auto options = std::make_shared<WordNetCommand>();
  CLI::App* command =
      add_command(parent, "wordnet", "A class's parts, and those of all its hypernyms, from WordNet 3.0",
                  "protocom knowledge wordnet --split split.csv --vectors glove.6B.300d.txt --out knowledge.npz");
  add_common_options(*command, options->common);
  command->get_option("--split")->required();
  add_input_option(*command, "--wordnet", options->database,
                   "Folder with data.noun and index.noun (Debian: wordnet-base)");
  add_list_option(*command, "--relations", options->relations, "Meronyms that count: part, substance, member");
  add_input_option(*command, "--class-synsets", options->class_synsets,
                   "CSV class,synset for classes whose names are not wnids; synset: a wnid, dog.n.01, or a lemma");
  command->callback([command, options] { run_wordnet(*command, *options); });
}

/// Makes the command call run_table with its options.
void run_with(CLI::App* command, const std::shared_ptr<TableCommand>& options, const TableSource& source) {
  add_common_options(*command, options->common);
  command->callback([command, options, source] { run_table(*command, *options, source); });
}

void add_csv(CLI::App& parent, const char* name, const char* description, const char* what,
             AttributeTable (*read)(const TableCommand& options)) {
  auto options = std::make_shared<TableCommand>();
  CLI::App* command =
      add_command(parent, name, description,
                  fmt::format("protocom knowledge {} --csv {}.csv --split split.csv --out knowledge.npz", name, name));
  add_input_option(*command, "--csv", options->path, what)->required();
  run_with(command, options, {"csv", read});
}

void add_cub(CLI::App& parent) {
  auto options = std::make_shared<TableCommand>();
  CLI::App* command =
      add_command(parent, "cub", "The class attribute table of CUB-200-2011",
                  "protocom knowledge cub --root CUB_200_2011 --threshold 50 --split cub.csv --out knowledge.npz");
  add_input_option(*command, "--root", options->path,
                   "The folder CUB_200_2011; attributes.txt may lie beside it, in it or in attributes/")
      ->required();
  CLI::Option* threshold =
      command->add_option("--threshold", options->threshold, "Percent of a class's images that must show an attribute")
          ->check(CLI::Range(0.0, 100.0));
  command->add_flag("--continuous", options->continuous, "Weights are the percentages / 100")->excludes(threshold);
  run_with(command, options, {"table", &read_cub});
}

void add_awa2(CLI::App& parent) {
  auto options = std::make_shared<TableCommand>();
  CLI::App* command = add_command(parent, "awa2", "The class attribute table of Animals with Attributes 2",
                                  "protocom knowledge awa2 --root Animals_with_Attributes2 --split split.csv "
                                  "--out knowledge.npz");
  add_input_option(*command, "--root", options->path, "Folder with classes.txt, predicates.txt and the matrices")
      ->required();
  command->add_flag("--continuous", options->continuous, "Weights are the numbers of the continuous matrix / 100");
  run_with(command, options, {"table", &read_awa2});
}

void add_knowledge_command(CLI::App& app) {
  CLI::App* command =
      add_command(app, "knowledge", "Attributes of classes, from WordNet or a table, and vectors of their texts",
                  "protocom knowledge wordnet --split split.csv --out knowledge.npz");
  command->require_subcommand(1);
  add_wordnet(*command);
  add_csv(*command, "table", "Attributes from a CSV with one class,attribute[,weight] per line",
          "CSV with the columns class,attribute[,weight] (0 to 1), or the matrix of knowledge template",
          [](const TableCommand& options) { return read_attributes(options.path); });
  add_csv(*command, "matrix", "Attributes from a CSV with one row per class and one column per attribute",
          "CSV whose first column names classes; cells are weights from 0 to 1, x, yes or no",
          [](const TableCommand& options) { return read_attribute_matrix(options.path); });
  add_cub(*command);
  add_awa2(*command);
  add_knowledge_text(*command);
  add_knowledge_embeddings(*command);
  add_knowledge_views(*command);
}

const Command kKnowledge{Group::kDataSets, 50, &add_knowledge_command};

}  // namespace
}  // namespace protocom::cli
