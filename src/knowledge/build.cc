#include "knowledge/build.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/matrix.h"
#include "io/files.h"
#include "knowledge/detail/joined.h"
#include "knowledge/graph_embedding.h"
#include "knowledge/word_vectors.h"

namespace protocom {
namespace {

using json = nlohmann::json;

AttributeTable select(const AttributeTable& table, const BuildOptions& options) {
  return select_classes(table, options.sides.value_or(ClassSides{table.classes, {}}), options.vocabulary);
}

/// Returns attributes of the split's classes that the vocabulary leaves out.
std::vector<std::string> left_out(const AttributeTable& table, const AttributeTable& selected,
                                  const BuildOptions& options) {
  BuildOptions all = options;
  all.vocabulary = Vocabulary::kAll;
  const std::set<std::string> kept(selected.attributes.begin(), selected.attributes.end());
  std::vector<std::string> names = select(table, all).attributes;
  names.erase(std::remove_if(names.begin(), names.end(), [&](const auto& name) { return kept.count(name) > 0; }),
              names.end());
  return names;
}

/// Returns rows of the base classes; all rows if there is no split.
std::vector<int64_t> base_rows(const AttributeTable& table, const std::optional<ClassSides>& sides) {
  std::set<std::string> base;
  if (sides) base.insert(sides->base.begin(), sides->base.end());
  std::vector<int64_t> rows;
  for (size_t i = 0; i < table.classes.size(); ++i) {
    if (!sides || base.count(table.classes[i]) > 0) rows.push_back(static_cast<int64_t>(i));
  }
  return rows;
}

template <typename Keep>
std::vector<std::string> pick(const std::vector<std::string>& names, const Keep& keep) {
  std::vector<std::string> picked;
  for (size_t i = 0; i < names.size(); ++i) {
    if (keep(static_cast<int64_t>(i))) picked.push_back(names[i]);
  }
  return picked;
}

std::vector<std::string> zero_rows(const Array& matrix, const std::vector<std::string>& names) {
  return pick(names, [&](int64_t i) { return (matrix_of<float>(matrix).row(i).array() == 0).all(); });
}

std::vector<std::string> zero_columns(const Array& matrix, const std::vector<std::string>& names) {
  return pick(names, [&](int64_t i) { return (matrix_of<float>(matrix).col(i).array() == 0).all(); });
}

const std::vector<std::string>& lemmas_of(const AttributeTable& table, const std::string& name) {
  static const std::vector<std::string> kNone;
  const auto found = table.lemmas.find(name);
  return found == table.lemmas.end() ? kNone : found->second;
}

Array embed_names(const AttributeTable& table, const WordVectors& vectors, const std::vector<std::string>& names,
                  std::set<std::string>& missing) {
  Array rows = Array::zeros({static_cast<int64_t>(names.size()), vectors.dim});
  for (size_t i = 0; i < names.size(); ++i) {
    const Array embedding = embed_lemmas(vectors, lemmas_of(table, names[i]), missing);
    mutable_matrix_of<float>(rows).row(static_cast<int64_t>(i)) = matrix_of<float>(embedding);
  }
  return rows;
}

void embed_words(const AttributeTable& table, const std::filesystem::path& path, Knowledge& knowledge) {
  std::set<std::string> wanted;
  for (const auto* names : {&table.classes, &table.attributes}) {
    for (const std::string& name : *names) {
      for (const std::string& lemma : lemmas_of(table, name)) add_wanted_words(lemma, wanted);
    }
  }
  const WordVectors vectors = read_word_vectors(path, wanted);
  std::set<std::string> missing;
  knowledge.class_embedding = embed_names(table, vectors, table.classes, missing);
  knowledge.attribute_embedding = embed_names(table, vectors, table.attributes, missing);
  knowledge.details["embedding"] = {
      {"kind", "word-vectors"}, {"file", path.string()}, {"file_hash", hash_file(path)}, {"dim", vectors.dim}};
  knowledge.details["words_not_found"] = missing;
}

/// Returns each source's file and its number of dimensions.
json sources_of(const BuildOptions& options) {
  std::vector<std::filesystem::path> files = {options.class_vectors_file};
  files.insert(files.end(), options.further_vectors_files.begin(), options.further_vectors_files.end());
  json sources = json::array();
  for (size_t i = 0; i < files.size(); ++i)
    sources.push_back({{"file", files[i].string()},
                       {"file_hash", hash_file(files[i])},
                       {"dim", options.class_vectors->sources.at(i)}});
  return sources;
}

/// Sets the vector of each class by its name, zeros if there is none.
void embed_given(const BuildOptions& options, Knowledge& knowledge) {
  const ClassVectors& given = *options.class_vectors;
  std::map<std::string, int64_t> place;
  for (size_t i = 0; i < given.classes.size(); ++i) place[given.classes[i]] = static_cast<int64_t>(i);
  const int64_t dim = given.vectors.size(1);
  knowledge.class_embedding = Array::zeros({static_cast<int64_t>(knowledge.classes.size()), dim});
  knowledge.attribute_embedding = Array::zeros({static_cast<int64_t>(knowledge.attributes.size()), dim});
  std::vector<std::string> missing;
  for (size_t i = 0; i < knowledge.classes.size(); ++i) {
    const auto found = place.find(knowledge.classes[i]);
    if (found == place.end()) {
      missing.push_back(knowledge.classes[i]);
    } else {
      mutable_matrix_of<float>(knowledge.class_embedding).row(static_cast<int64_t>(i)) =
          matrix_of<float>(given.vectors).row(found->second);
      place.erase(found);
    }
  }
  if (missing.size() == knowledge.classes.size())
    fail("{} has no vector for any of the {} classes: they are called '{}', ..., the vectors '{}', ...",
         options.class_vectors_file.string(), missing.size(), missing.front(), given.classes.front());
  json without_class = json::array();
  for (const auto& [name, row] : place) without_class.push_back(name);
  knowledge.embedding_sources = given.sources;
  knowledge.details["embedding"] = {{"kind", "class-vectors"},
                                    {"file", options.class_vectors_file.string()},
                                    {"file_hash", hash_file(options.class_vectors_file)},
                                    {"dim", dim}};
  if (!given.sources.empty()) knowledge.details["embedding"]["sources"] = sources_of(options);
  knowledge.details["words_not_found"] = json::array();
  knowledge.details["classes_without_vector"] = missing;
  knowledge.details["vectors_without_class"] = without_class;
}

void embed_by_graph(const AttributeTable& table, const BuildOptions& options, Knowledge& knowledge) {
  const auto n_attributes = static_cast<int64_t>(table.attributes.size());
  Array graph = table.association;  // [c, a | h]
  if (!table.context.empty()) graph = beside(table.association, table.context_association);
  const bool base_only = options.vocabulary == Vocabulary::kBase;
  const Array made_from = base_only ? graph.gathered(base_rows(table, options.sides)) : graph;
  const Array columns = embed_graph(made_from, options.embedding_dim);
  knowledge.class_embedding = place_rows(columns, graph);
  knowledge.attribute_embedding = columns.rows(0, n_attributes);
  knowledge.context = table.context;
  if (!table.context.empty()) knowledge.context_embedding = columns.rows(n_attributes, columns.size(0));
  knowledge.details["embedding"] = {{"kind", "graph-svd"},
                                    {"dim", knowledge.class_embedding.size(1)},
                                    {"asked_dim", options.embedding_dim},
                                    {"made_from_classes", made_from.size(0)},
                                    {"context_columns", table.context.size()}};
  knowledge.details["words_not_found"] = json::array();
}

/// Returns minimum, median and maximum of the number of attributes of a class.
json per_class(const Array& association) {
  const auto rows = matrix_of<float>(association);
  std::vector<int64_t> counts;
  for (int64_t k = 0; k < rows.rows(); ++k) counts.push_back((rows.row(k).array() != 0).count());
  std::sort(counts.begin(), counts.end());
  return {{"min", counts.front()}, {"median", counts[counts.size() / 2]}, {"max", counts.back()}};
}

void add_figures(const AttributeTable& table, const BuildOptions& options, Knowledge& knowledge) {
  const Array base = knowledge.association.gathered(base_rows(table, options.sides));
  json& details = knowledge.details;
  details["source"] = table.source;
  details["vocabulary"] = to_string(options.vocabulary);
  details["n_classes"] = knowledge.classes.size();
  details["n_attributes"] = knowledge.attributes.size();
  details["n_edges"] = (matrix_of<float>(knowledge.association).array() != 0).count();
  details["attributes_per_class"] = per_class(knowledge.association);
  details["classes_without_attributes"] = zero_rows(knowledge.association, knowledge.classes);
  details["attributes_without_base_class"] = zero_columns(base, knowledge.attributes);
  std::vector<std::string> without = zero_rows(knowledge.class_embedding, knowledge.classes);
  if (!options.class_vectors) {
    const std::vector<std::string> attributes = zero_rows(knowledge.attribute_embedding, knowledge.attributes);
    without.insert(without.end(), attributes.begin(), attributes.end());
  }
  details["without_embedding"] = without;
}

/// Returns names for a message: the first few, each with its title if that is informative.
std::string listed(const json& names, const Knowledge& knowledge) {
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    const auto name = names[i].get<std::string>();
    const auto title = knowledge.titles.find(name);
    text += (i > 0 ? "; " : "") + name;
    if (title != knowledge.titles.end() && title->second != name) text += " (" + title->second + ")";
  }
  return names.size() > kShown ? text + "; ..." : text;
}

/// Reports classes without a vector, and vectors without a class, in one sentence.
void report_vectors(const Knowledge& knowledge) {
  const json& missing = knowledge.details.at("classes_without_vector");
  const json& others = knowledge.details.at("vectors_without_class");
  if (missing.empty() && others.empty()) return;
  std::string text;
  if (!missing.empty())
    text = fmt::format("{} of {} classes have no vector: {}", missing.size(), knowledge.classes.size(),
                       listed(missing, knowledge));
  if (!others.empty()) {
    text += fmt::format("{}{} vectors of other classes are ignored: {}", text.empty() ? "" : "; and ", others.size(),
                        listed(others, knowledge));
  }
  logger().warn("{}", text);
}

void report_missing(const Knowledge& knowledge) {
  const json& details = knowledge.details;
  const json& source = details.at("source");
  const bool vectors = details.contains("classes_without_vector");
  if (vectors) report_vectors(knowledge);
  if (vectors && knowledge.attributes.empty()) return;
  const auto report = [&knowledge](LogLevel level, const json& names, const char* what) {
    if (!names.empty()) logger().log(level, "{} ({}): {}", what, names.size(), listed(names, knowledge));
  };
  const auto of_source = [&source](const char* key) { return source.value(key, json::array()); };
  report(LogLevel::kInfo, of_source("classes_not_in_split"), "classes of the source that the split leaves out");
  report(LogLevel::kWarning, of_source("classes_unknown"),
         "classes that are not in WordNet; --class-synsets can name their synsets");
  report(LogLevel::kWarning, of_source("classes_without_source"), "classes of the split that the source does not name");
  report(LogLevel::kWarning, details["classes_without_attributes"],
         "classes without attributes, completed from their prototype alone");
  report(LogLevel::kWarning, details["attributes_without_base_class"],
         "attributes of no base class, whose features no image can show");
  report(LogLevel::kWarning, details["attributes_left_out"],
         "attributes that no base class has, left out; --vocabulary all keeps them");
  report(LogLevel::kWarning, details["words_not_found"], "words without a vector");
  if (!vectors) report(LogLevel::kWarning, details["without_embedding"], "names without any embedding; theirs is zero");
}

}  // namespace

Knowledge build_knowledge(const AttributeTable& table, const BuildOptions& options) {
  const AttributeTable selected = select(table, options);
  Knowledge knowledge;
  knowledge.classes = selected.classes;
  knowledge.attributes = selected.attributes;
  knowledge.association = selected.association;
  knowledge.titles = selected.titles;
  if (options.class_vectors) {
    embed_given(options, knowledge);
  } else if (options.vectors) {
    embed_words(selected, *options.vectors, knowledge);
  } else {
    embed_by_graph(selected, options, knowledge);
  }
  add_figures(selected, options, knowledge);
  knowledge.details["attributes_left_out"] = left_out(table, selected, options);
  check_knowledge(knowledge);
  report_missing(knowledge);
  return knowledge;
}

nlohmann::json graph_json(const Knowledge& knowledge) {
  json nodes = knowledge.classes;
  for (const std::string& attribute : knowledge.attributes) nodes.push_back(attribute);
  json edges = json::array();
  const auto* weight = knowledge.association.data<float>();
  for (const std::string& name : knowledge.classes) {
    for (const std::string& attribute : knowledge.attributes) {
      if (*weight++ != 0) edges.push_back({name, attribute});
    }
  }
  return {{"nodes", nodes}, {"edges", edges}};
}

}  // namespace protocom
