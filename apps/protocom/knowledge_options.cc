#include "knowledge_options.h"

#include "base/json_text.h"
#include "datasets/split.h"

namespace protocom::cli {
namespace {

ClassSides read_sides(const std::string& path) {
  ClassSides sides;
  for (const auto& [name, split] : read_split(path))
    (split == Split::kBase ? sides.base : sides.unseen).push_back(name);
  return sides;
}

void print_summary(const nlohmann::json& details) {
  const auto text = [&details](const char* key) { return json_text(details.at(key)); };
  const auto count = [&details](const char* key) { return std::to_string(details.at(key).size()); };
  const nlohmann::json& per_class = details.at("attributes_per_class");
  const nlohmann::json& embedding = details.at("embedding");
  std::vector<std::vector<std::string>> rows = {{"classes", text("n_classes")}};
  if (details.at("n_attributes") != 0) {
    rows.push_back({"attributes", text("n_attributes")});
    rows.push_back({"edges", text("n_edges")});
    rows.push_back({"attributes per class (min / median / max)",
                    fmt::format("{} / {} / {}", json_text(per_class.at("min")), json_text(per_class.at("median")),
                                json_text(per_class.at("max")))});
    rows.push_back({"classes without attributes", count("classes_without_attributes")});
    rows.push_back({"attributes of no base class", count("attributes_without_base_class")});
    rows.push_back({"attributes not used", count("attributes_left_out")});
  }
  const size_t sources = embedding.contains("sources") ? embedding.at("sources").size() : 1;
  rows.push_back({"embedding", fmt::format("{}, {} dimensions{}", embedding.at("kind").get<std::string>(),
                                           json_text(embedding.at("dim")),
                                           sources > 1 ? fmt::format(" of {} sources", sources) : "")});
  rows.push_back({"words without a vector", count("words_not_found")});
  rows.push_back({"names without an embedding", count("without_embedding")});
  print_table(rows);
}

/// Returns the graph as JSON. Throws Error before anything is written if a name is not UTF-8, which JSON cannot hold.
std::string graph_text(const KnowledgeOptions& common, const Knowledge& knowledge) {
  if (common.json.empty()) return "";
  try {
    return strict_json_text(graph_json(knowledge));
  } catch (const nlohmann::json::exception& error) {
    fail("cannot write {}: a name of the knowledge is not UTF-8: {}", common.json, reason_of(error));
  }
}

}  // namespace

void add_split_options(CLI::App& command, KnowledgeOptions& common) {
  add_input_option(command, "--split", common.split,
                   "Base, val and novel classes: a CSV class,split, or the prefix or folder of the lists -base.txt, "
                   "-val.txt, -novel.txt");
  add_word(command, "--vocabulary", common.build.vocabulary, &parse_vocabulary,
           "Attributes kept: base (of a base class), shared (of a base and of a val or novel class) or all")
      ->check(CLI::IsMember({"base", "shared", "all"}));
}

void add_output_options(CLI::App& command, KnowledgeOptions& common) {
  add_output_option(command, "--out", common.out, "Knowledge file to write")->required();
  add_output_option(command, "--json", common.json,
                    "Also write the graph: {\"nodes\": [...], \"edges\": [[class, attribute], ...]}");
}

void add_common_options(CLI::App& command, KnowledgeOptions& common) {
  add_split_options(command, common);
  add_input_option(
      command, "--vectors", common.vectors,
      "Word vectors in GloVe's text format, plain or gzip; without them the embedding is an SVD of the graph");
  command.add_option("--embedding-dim", common.build.embedding_dim, "Dimensions of that SVD")->check(at_least(1));
  add_output_options(command, common);
}

void prepare(KnowledgeOptions& common) {
  if (!common.split.empty()) common.build.sides = read_sides(common.split);
  if (common.build.vocabulary == Vocabulary::kShared && !common.build.sides)
    fail_usage("--vocabulary shared needs --split");
  if (!common.vectors.empty()) common.build.vectors = common.vectors;
  check_writable(common.out);
  if (!common.json.empty()) check_writable(common.json);
}

Provenance make_provenance(const CLI::App& command, const KnowledgeOptions& common) {
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

void finish(const KnowledgeOptions& common, const AttributeTable& table, const Provenance& provenance) {
  const Knowledge knowledge = build_knowledge(table, common.build);
  const std::string graph = graph_text(common, knowledge);
  write_knowledge(common.out, knowledge, provenance, knowledge.details);
  if (!common.json.empty()) write_file(common.json, graph);
  print_summary(knowledge.details);
}

}  // namespace protocom::cli
