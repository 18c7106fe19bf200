#include "knowledge/wordnet_attributes.h"

#include <fmt/ranges.h>

#include <set>
#include <tuple>

#include "base/error.h"
#include "base/log.h"
#include "base/matrix.h"
#include "io/csv.h"
#include "knowledge/choose_synset.h"
#include "knowledge/names.h"

namespace protocom {
namespace {

using Sets = std::vector<std::set<std::string>>;

/// Returns the synset of a class, nothing if it is not in WordNet, or a doubt.
SynsetChoice find_synset(const WordNet& wordnet, const std::string& name, const WordNetAttributesOptions& options,
                         const Kinship& kin) {
  const auto given = options.class_synsets.find(name);
  if (given != options.class_synsets.end()) {
    SynsetChoice choice = consider_synset(wordnet, given->second, kin);
    if (!choice.wnid && choice.doubt.empty())
      fail("class '{}' is mapped to '{}', which is not in WordNet; expected a wnid, a sense (dog.n.01) or a lemma",
           name, given->second);
    return choice;
  }
  if (wordnet.contains(name)) return {name, ""};
  SynsetChoice choice = consider_synset(wordnet, name, kin);
  return choice.wnid || !choice.doubt.empty() ? choice : consider_synset(wordnet, lemma_of_name(name), kin);
}

/// Refuses classes with several senses, all at once.
void check_no_doubts(const std::vector<std::pair<std::string, std::string>>& doubts) {
  if (doubts.empty()) return;
  if (doubts.size() == 1) fail("{}", doubts.front().second);
  std::vector<std::string> names;
  for (const auto& [name, doubt] : doubts) {
    logger().warn("{}", doubt);
    names.push_back(name);
  }
  fail(
      "{} classes have several senses in WordNet and the other classes do not decide between them: {}; name each by "
      "its wnid, as warned above, in a CSV class,synset for --class-synsets",
      names.size(), fmt::join(names, ", "));
}

/// Returns one column for each distinct member of the rows, ascending: their names and the matrix [rows, columns].
std::pair<std::vector<std::string>, Array> columns_of(const Sets& rows) {
  std::set<std::string> all;
  for (const auto& row : rows) all.insert(row.begin(), row.end());
  const std::vector<std::string> names(all.begin(), all.end());
  Array matrix = Array::zeros({static_cast<int64_t>(rows.size()), static_cast<int64_t>(names.size())});
  auto cells = mutable_matrix_of<float>(matrix);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < names.size(); ++c) {
      cells(static_cast<int64_t>(r), static_cast<int64_t>(c)) = rows[r].count(names[c]) > 0 ? 1.0F : 0.0F;
    }
  }
  return {names, matrix};
}

void describe(const WordNet& wordnet, const std::string& name, const std::string& wnid, AttributeTable& table) {
  const Synset synset = wordnet.synset(wnid);
  table.lemmas[name] = synset.lemmas;
  table.titles[name] = title(synset);
}

void describe_unknown(const std::string& name, AttributeTable& table) {
  const std::string lemma = lemma_of_name(name);
  table.lemmas[name] = lemma.empty() ? std::vector<std::string>{} : std::vector<std::string>{lemma};
  table.titles[name] = title_of_name(name);
}

nlohmann::json source_of(const WordNetAttributesOptions& options, const std::map<std::string, std::string>& synsets,
                         const std::vector<std::string>& unknown) {
  nlohmann::json relations = nlohmann::json::array();
  for (const Meronym relation : options.relations) relations.push_back(to_string(relation));
  nlohmann::json renamed = nlohmann::json::object();
  for (const auto& [name, wnid] : synsets) {
    if (name != wnid) renamed[name] = wnid;
  }
  return {{"kind", "wordnet"}, {"relations", relations}, {"synsets", renamed}, {"classes_unknown", unknown}};
}

/// Returns the synsets of the classes that are in WordNet.
std::map<std::string, std::string> find_synsets(const WordNet& wordnet, const std::vector<std::string>& classes,
                                                const WordNetAttributesOptions& options) {
  std::map<std::string, std::string> synsets;
  std::vector<std::string> names;
  for (const std::string& name : classes) {
    const auto given = options.class_synsets.find(name);
    const bool by_lemma =
        given == options.class_synsets.end() && !wordnet.contains(name) && wordnet.senses(name).empty();
    names.push_back(given != options.class_synsets.end() ? given->second : by_lemma ? lemma_of_name(name) : name);
  }
  const Kinship kin(wordnet, names);
  std::vector<std::pair<std::string, std::string>> doubts;
  for (const std::string& name : classes) {
    const SynsetChoice choice = find_synset(wordnet, name, options, kin);
    if (choice.wnid) synsets[name] = *choice.wnid;
    if (!choice.doubt.empty()) doubts.emplace_back(name, choice.doubt);
  }
  check_no_doubts(doubts);
  if (!synsets.empty()) return synsets;
  fail(
      "none of the {} classes is in WordNet (the first is '{}'); name their synsets with --class-synsets, or use "
      "protocom knowledge table",
      classes.size(), classes.empty() ? "" : classes.front());
}

}  // namespace

AttributeTable wordnet_attributes(const WordNet& wordnet, const std::vector<std::string>& classes,
                                  const WordNetAttributesOptions& options) {
  const auto synsets = find_synsets(wordnet, classes, options);
  AttributeTable table;
  table.classes = classes;
  Sets attributes(classes.size());
  Sets context(classes.size());
  std::vector<std::string> unknown;
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto found = synsets.find(classes[i]);
    if (found == synsets.end()) {
      unknown.push_back(classes[i]);
      describe_unknown(classes[i], table);
      continue;
    }
    describe(wordnet, classes[i], found->second, table);
    for (std::string& attribute : wordnet.attributes(found->second, options.relations))
      attributes[i].insert(std::move(attribute));
    for (std::string& ancestor : wordnet.ancestors(found->second)) context[i].insert(std::move(ancestor));
  }
  std::tie(table.attributes, table.association) = columns_of(attributes);
  std::tie(table.context, table.context_association) = columns_of(context);
  for (const std::string& attribute : table.attributes) describe(wordnet, attribute, attribute, table);
  table.source = source_of(options, synsets, unknown);
  return table;
}

std::map<std::string, std::string> read_class_synsets(const std::filesystem::path& path) {
  const CsvTable csv = read_csv(path);
  const size_t name = csv.column("class");
  const size_t synset = csv.column("synset");
  std::map<std::string, std::string> synsets;
  for (const CsvRow& row : csv.rows) {
    if (!synsets.emplace(row.cells[name], row.cells[synset]).second)
      fail("{}: duplicate class '{}'", csv.where(row), row.cells[name]);
  }
  return synsets;
}

}  // namespace protocom
