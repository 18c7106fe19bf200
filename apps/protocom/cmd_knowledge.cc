#include <optional>

#include "cli.h"
#include "protocom/data/split.h"
#include "protocom/knowledge/build.h"
#include "protocom/knowledge/tables.h"
#include "protocom/knowledge/wordnet_attributes.h"

namespace protocom::cli {
namespace {

/// What every source has in common.
struct Common {
  std::string split, vectors, out, json;
  BuildOptions build;
  std::string vocabulary{to_string(build.vocabulary)};
};

struct WordNetCommand {
  Common common;
  std::string database = kWordNetFolder, class_synsets;
  std::vector<std::string> relations = {"part"};
};

struct CubCommand {
  Common common;
  std::string root;
  double threshold = *CubAttributesOptions().threshold;
  bool continuous = false;
};

struct CsvCommand {
  Common common;
  std::string csv;
};

void add_common_options(CLI::App& command, Common& common) {
  command.add_option("--split", common.split,
                     "Base, val and novel classes: a CSV class,split, or the prefix or folder of the lists -base.txt, "
                     "-val.txt, -novel.txt");
  command
      .add_option("--vocabulary", common.vocabulary,
                  "Attributes kept: base (of a base class), shared (of a base and of a val or novel class) or all")
      ->check(CLI::IsMember({"base", "shared", "all"}));
  command.add_option(
      "--vectors", common.vectors,
      "Word vectors in GloVe's text format, plain or gzip; without them the embedding is an SVD of the graph");
  command.add_option("--embedding-dim", common.build.embedding_dim, "Dimensions of that SVD")
      ->check(CLI::PositiveNumber);
  command.add_option("--out", common.out, "Knowledge file to write")->required();
  command.add_option("--json", common.json,
                     "Also write the graph: {\"nodes\": [...], \"edges\": [[class, attribute], ...]}");
}

ClassSides read_sides(const std::string& path) {
  ClassSides sides;
  for (const auto& [name, split] : read_split(path))
    (split == Split::kBase ? sides.base : sides.unseen).push_back(name);
  return sides;
}

/// Checks what can be checked before the work.
void prepare(Common& common) {
  common.build.vocabulary = parse_vocabulary(common.vocabulary);
  if (!common.split.empty()) common.build.sides = read_sides(common.split);
  if (common.build.vocabulary == Vocabulary::kShared && !common.build.sides)
    fail_usage("--vocabulary shared needs --split");
  if (!common.vectors.empty()) common.build.vectors = common.vectors;
  check_writable(common.out);
  if (!common.json.empty()) check_writable(common.json);
}

void print_summary(const nlohmann::json& details) {
  const auto text = [&details](const char* key) { return details.at(key).dump(); };
  const auto count = [&details](const char* key) { return std::to_string(details.at(key).size()); };
  const nlohmann::json& per_class = details.at("attributes_per_class");
  const nlohmann::json& embedding = details.at("embedding");
  print_table({{"classes", text("n_classes")},
               {"attributes", text("n_attributes")},
               {"edges", text("n_edges")},
               {"attributes per class (min / median / max)",
                fmt::format("{} / {} / {}", per_class.at("min").dump(), per_class.at("median").dump(),
                            per_class.at("max").dump())},
               {"classes without attributes", count("classes_without_attributes")},
               {"attributes of no base class", count("attributes_without_base_class")},
               {"embedding",
                fmt::format("{}, {} dimensions", embedding.at("kind").get<std::string>(), embedding.at("dim").dump())},
               {"words without a vector", count("words_not_found")},
               {"names without an embedding", count("without_embedding")}});
}

Provenance make_provenance(const CLI::App& command, const Common& common) {
  Provenance provenance = provenance_of(command, /*seed=*/0);
  provenance.command = "knowledge " + command.get_name();
  if (common.build.sides) {
    std::string listing;
    for (const std::string& name : common.build.sides->base) listing += name + "\tbase\n";
    for (const std::string& name : common.build.sides->unseen) listing += name + "\tunseen\n";
    provenance.inputs["split"] = hash_bytes(listing);  // a prefix names three files
  }
  add_input(provenance, "vectors", common.vectors);
  return provenance;
}

/// Throws Error before anything is written when a name is not UTF-8, which JSON cannot hold.
std::string graph_text(const Common& common, const Knowledge& knowledge) {
  if (common.json.empty()) return "";
  try {
    return graph_json(knowledge).dump();
  } catch (const nlohmann::json::exception& error) {
    fail("cannot write {}: a name of the knowledge is not UTF-8: {}", common.json, reason_of(error));
  }
}

void finish(const Common& common, const ClassAttributes& table, const Provenance& provenance) {
  const Knowledge knowledge = build_knowledge(table, common.build);
  const std::string graph = graph_text(common, knowledge);
  write_knowledge(common.out, knowledge, provenance, knowledge.details);
  if (!common.json.empty()) write_file(common.json, graph);
  print_summary(knowledge.details);
}

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

void run_csv(const CLI::App& command, CsvCommand& options, ClassAttributes (*read)(const std::filesystem::path&)) {
  prepare(options.common);
  const ClassAttributes table = read(options.csv);
  Provenance provenance = make_provenance(command, options.common);
  add_input(provenance, "csv", options.csv);
  finish(options.common, table, provenance);
}

void run_cub(const CLI::App& command, CubCommand& options) {
  prepare(options.common);
  CubAttributesOptions attributes;
  attributes.threshold = options.continuous ? std::nullopt : std::optional(options.threshold);
  const ClassAttributes table = read_cub_attributes(options.root, attributes);
  Provenance provenance = make_provenance(command, options.common);
  add_input(provenance, "table", table.source.at("file").get<std::string>());
  finish(options.common, table, provenance);
}

void add_wordnet(CLI::App& parent) {
  auto options = std::make_shared<WordNetCommand>();
  CLI::App* command =
      add_command(parent, "wordnet", "A class's parts, and those of all its hypernyms, from WordNet 3.0",
                  "protocom knowledge wordnet --split split.csv --vectors glove.6B.300d.txt --out knowledge.npz");
  add_common_options(*command, options->common);
  command->get_option("--split")->required();
  command->add_option("--wordnet", options->database, "Folder with data.noun and index.noun (Debian: wordnet-base)");
  command->add_option("--relations", options->relations, "Meronyms that count: part, substance, member")
      ->delimiter(',');
  command->add_option("--class-synsets", options->class_synsets,
                      "CSV class,synset for classes whose names are not wnids; synset: a wnid, dog.n.01, or a lemma");
  command->callback([command, options] { run_wordnet(*command, *options); });
}

void add_csv(CLI::App& parent, const char* name, const char* description, const char* what,
             ClassAttributes (*read)(const std::filesystem::path&)) {
  auto options = std::make_shared<CsvCommand>();
  CLI::App* command =
      add_command(parent, name, description,
                  fmt::format("protocom knowledge {} --csv {}.csv --split split.csv --out knowledge.npz", name, name));
  command->add_option("--csv", options->csv, what)->required();
  add_common_options(*command, options->common);
  command->callback([command, options, read] { run_csv(*command, *options, read); });
}

void add_cub(CLI::App& parent) {
  auto options = std::make_shared<CubCommand>();
  CLI::App* command =
      add_command(parent, "cub", "The class attribute table of CUB-200-2011",
                  "protocom knowledge cub --root CUB_200_2011 --threshold 50 --split cub.csv --out knowledge.npz");
  command
      ->add_option("--root", options->root,
                   "The folder CUB_200_2011; attributes.txt may lie beside it, in it or in attributes/")
      ->required();
  CLI::Option* threshold =
      command->add_option("--threshold", options->threshold, "Percent of a class's images that must show an attribute")
          ->check(CLI::Range(0.0, 100.0));
  command->add_flag("--continuous", options->continuous, "Weights are the percentages / 100")->excludes(threshold);
  add_common_options(*command, options->common);
  command->callback([command, options] { run_cub(*command, *options); });
}

void add_knowledge_command(CLI::App& app) {
  CLI::App* command = add_command(app, "knowledge", "Which attributes classes have, from WordNet or a table",
                                  "protocom knowledge wordnet --split split.csv --out knowledge.npz");
  command->require_subcommand(1);
  add_wordnet(*command);
  add_csv(*command, "table", "One class,attribute[,weight] a line",
          "CSV with the columns class,attribute and, if wanted, weight (0 to 1)", &read_attribute_table);
  add_csv(*command, "matrix", "One row a class, one column an attribute",
          "CSV whose first column names classes; cells are weights from 0 to 1", &read_attribute_matrix);
  add_cub(*command);
}

const Command kRegister{Order::kKnowledge, &add_knowledge_command};

}  // namespace
}  // namespace protocom::cli
