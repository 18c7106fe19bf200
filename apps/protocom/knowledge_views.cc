#include <algorithm>
#include <optional>

#include "base/text.h"
#include "datasets/split.h"
#include "knowledge/tables.h"
#include "knowledge/useless.h"
#include "knowledge_options.h"

namespace protocom::cli {
namespace {

struct ShowCommand {
  std::string knowledge;
  size_t most = 40;
};

/// Returns "a, b, c and 4 more".
std::string shortened(const std::vector<std::string>& names, size_t most) {
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(most);
  return fmt::format("{} and {} more", fmt::join(names.begin(), end, ", "), names.size() - most);
}

std::string class_label(const Knowledge& knowledge, const std::string& name) {
  const auto title = knowledge.titles.find(name);
  return name_and_word(name, title == knowledge.titles.end() ? "" : title->second);
}

template <typename Label>
std::vector<std::string> labelled(const Knowledge& knowledge, std::vector<std::string> names, Label label) {
  for (std::string& name : names) name = label(knowledge, name);
  return names;
}

void print_attributes(const Knowledge& knowledge, size_t most) {
  const std::vector<int64_t> counts = class_counts(knowledge);
  std::vector<std::vector<std::string>> rows = {{"attribute", "classes", "title"}};
  for (size_t a = 0; a < std::min(most, knowledge.attributes.size()); ++a) {
    const auto title = knowledge.titles.find(knowledge.attributes[a]);
    rows.push_back(
        {knowledge.attributes[a], std::to_string(counts[a]), title == knowledge.titles.end() ? "" : title->second});
  }
  print_table(rows);
  if (knowledge.attributes.size() > most) fmt::print("... and {} more (--most)\n", knowledge.attributes.size() - most);
}

void print_classes(const Knowledge& knowledge, size_t most) {
  std::vector<std::vector<std::string>> rows = {{"class", "attributes"}};
  for (size_t k = 0; k < std::min(most, knowledge.classes.size()); ++k) {
    std::vector<std::string> own;
    for (size_t a = 0; a < knowledge.attributes.size(); ++a) {
      const float weight = knowledge.association.row(static_cast<int64_t>(k)).data<float>()[a];
      if (weight > 0)
        own.push_back(short_title(knowledge, knowledge.attributes[a]) +
                      (weight < 1 ? fmt::format(" {:.2g}", weight) : ""));
    }
    rows.push_back({class_label(knowledge, knowledge.classes[k]), shortened(own, 8)});
  }
  print_table(rows);
  if (knowledge.classes.size() > most) fmt::print("... and {} more (--most)\n", knowledge.classes.size() - most);
}

void print_useless(const Knowledge& knowledge, size_t most) {
  const UselessKnowledge found = find_useless(knowledge);
  for (const auto& group : found.equal_classes)
    fmt::print("equal rows, which cannot be told apart: {}\n",
               fmt::join(labelled(knowledge, group, class_label), ", "));
  const auto noted = [&](const char* key) { return knowledge.details.value(key, std::vector<std::string>()); };
  const auto print_names = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) fmt::print("{} ({}): {}\n", what, names.size(), shortened(names, most));
  };
  print_names("classes without attributes", labelled(knowledge, found.classes_of_none, class_label));
  for (const auto& [what, names] : {std::pair{"attributes of every class", found.attributes_of_all},
                                    std::pair{"attributes of no class", found.attributes_of_none},
                                    std::pair{"attributes of no base class", noted("attributes_without_base_class")},
                                    std::pair{"attributes of no base class, not used", noted("attributes_left_out")}}) {
    print_names(what, labelled(knowledge, names, short_title));
  }
}

void run_show(const ShowCommand& options) {
  const Knowledge knowledge = read_knowledge(options.knowledge);
  print_attributes(knowledge, options.most);
  fmt::print("\n");
  print_classes(knowledge, options.most);
  fmt::print("\n");
  print_useless(knowledge, options.most);
}

void add_show(CLI::App& parent) {
  auto options = std::make_shared<ShowCommand>();
  CLI::App* command =
      add_command(parent, "show", "Show attributes and classes of a knowledge file, and which have no effect",
                  "protocom knowledge show knowledge.npz");
  add_input_option(*command, "knowledge", options->knowledge, "Knowledge file")->required();
  command->add_option("--most", options->most, "Most attributes and classes to list");
  command->callback([options] { run_show(*options); });
}

struct TemplateCommand {
  std::string split, knowledge, out;
  std::vector<std::string> attributes;
};

void run_template(const TemplateCommand& options) {
  check_absent(options.out);
  check_writable(options.out);
  std::vector<std::string> classes;
  for (const auto& entry : read_split(options.split)) classes.push_back(entry.first);
  std::optional<Knowledge> known;
  std::vector<std::string> attributes;
  for (const std::string& name : options.attributes) attributes.emplace_back(trimmed(name));
  if (!options.knowledge.empty()) {
    known = read_knowledge(options.knowledge);
    if (attributes.empty()) attributes = known->attributes;
  }
  if (attributes.empty())
    fail_usage("name the attributes: --attributes wing,crest,..., or --knowledge FILE for its own");
  write_file(options.out, matrix_csv(classes, attributes, known ? &*known : nullptr));
  print_table({{"classes", std::to_string(classes.size())},
               {"attributes", std::to_string(attributes.size())},
               {"written", options.out}});
  fmt::print("fill in weights from 0 to 1, or x (empty: 0), then: protocom knowledge matrix --csv {}\n", options.out);
}

void add_template(CLI::App& parent) {
  auto options = std::make_shared<TemplateCommand>();
  CLI::App* command = add_command(
      parent, "template", "A CSV of all classes and attributes to fill in with a spreadsheet",
      "protocom knowledge template --split split.csv --attributes \"wing,crest,long bill\" --out matrix.csv");
  add_input_option(*command, "--split", options->split,
                   "Classes: a CSV class,split, or lists, as for the other commands")
      ->required();
  add_list_option(*command, "--attributes", options->attributes, "Columns of the template");
  add_input_option(*command, "--knowledge", options->knowledge, "Knowledge whose attributes and weights are filled in");
  add_output_option(*command, "--out", options->out, "CSV to write")->required();
  command->callback([options] { run_template(*options); });
}

}  // namespace

void add_knowledge_views(CLI::App& parent) {
  add_show(parent);
  add_template(parent);
}

}  // namespace protocom::cli
