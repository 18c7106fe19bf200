#include "knowledge/knowledge.h"

#include <fmt/ranges.h>

#include <set>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/feature_values.h"
#include "base/text.h"
#include "io/files.h"
#include "io/npz.h"

namespace protocom {
namespace {

constexpr int kFormatVersion = 1;

void check_names(const std::vector<std::string>& names, const char* what) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) fail("the knowledge has an empty {} name", what);
    if (!seen.insert(name).second) fail("the knowledge has a duplicate {} '{}'", what, name);
  }
}

void check_matrix(const Array& matrix, const char* name, int64_t rows, int64_t columns) {
  if (!matrix.defined() || matrix.dim() != 2) fail("'{}' of the knowledge is not a matrix", name);
  if (matrix.type() != NumberType::kFloat32) fail("'{}' of the knowledge: expected float32", name);
  if (matrix.size(0) != rows || matrix.size(1) != columns) {
    fail("'{}' of the knowledge is [{}, {}], expected [{}, {}]", name, matrix.size(0), matrix.size(1), rows, columns);
  }
  if (!is_finite(matrix)) fail("'{}' of the knowledge is not finite", name);
}

void check_range(const Knowledge& knowledge) {
  const auto* weight = knowledge.association.data<float>();
  const size_t columns = knowledge.attributes.size();
  for (size_t i = 0; i < knowledge.classes.size() * columns; ++i) {
    if (weight[i] < 0 || weight[i] > 1)
      fail("the weight of attribute '{}' for class '{}' is {}, expected a number in [0, 1]",
           knowledge.attributes[i % columns], knowledge.classes[i / columns], weight[i]);
  }
}

void check_sources(const std::vector<int64_t>& sources, int64_t dim) {
  if (sources.empty()) return;
  int64_t left = dim;
  for (const int64_t size : sources) left = size < 1 || size > left ? -1 : left - size;
  if (left != 0 || sources.size() < 2)
    fail("'embedding_sources' of the knowledge is [{}], expected at least two sizes with the sum {}",
         fmt::join(sources, ", "), dim);
}

std::vector<std::string> titles_of(const Knowledge& knowledge, const std::vector<std::string>& names) {
  std::vector<std::string> titles;
  for (const std::string& name : names) {
    const auto found = knowledge.titles.find(name);
    titles.push_back(found == knowledge.titles.end() ? std::string() : found->second);
  }
  return titles;
}

void read_titles(const NpzReader& reader, const std::string& member, const std::vector<std::string>& names,
                 Knowledge& knowledge) {
  if (!reader.has(member)) return;
  const std::vector<std::string> titles = reader.strings(member);
  if (titles.size() != names.size()) {
    fail("{}: '{}' has {} entries for {} names", reader.path().string(), member, titles.size(), names.size());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (!titles[i].empty()) knowledge.titles[names[i]] = titles[i];
  }
}

Knowledge read_members(const NpzReader& reader) {
  Knowledge knowledge;
  knowledge.details = read_header(reader, "knowledge", kFormatVersion).details;
  knowledge.classes = reader.strings("classes");
  for (std::string& name : knowledge.classes) name = clean_name(name);
  knowledge.attributes = reader.strings("attributes");
  read_titles(reader, "class_titles", knowledge.classes, knowledge);
  read_titles(reader, "attribute_titles", knowledge.attributes, knowledge);
  knowledge.association = reader.array("association");
  knowledge.class_embedding = reader.array("class_embedding");
  knowledge.attribute_embedding = reader.array("attribute_embedding");
  if (reader.has("embedding_sources")) {
    const Array sizes = reader.array("embedding_sources").to(NumberType::kInt64);
    knowledge.embedding_sources.assign(sizes.data<int64_t>(), sizes.data<int64_t>() + sizes.numel());
  }
  if (reader.has("context")) {
    knowledge.context = reader.strings("context");
    knowledge.context_embedding = reader.array("context_embedding");
  }
  return knowledge;
}

}  // namespace

void check_knowledge(const Knowledge& knowledge) {
  const auto n_classes = static_cast<int64_t>(knowledge.classes.size());
  const auto n_attributes = static_cast<int64_t>(knowledge.attributes.size());
  // Knowledge of words alone may be empty.
  if (n_classes == 0 && (n_attributes > 0 || !knowledge.class_embedding.defined()))
    fail("the knowledge names no class");
  check_names(knowledge.classes, "class");
  check_names(knowledge.attributes, "attribute");
  check_matrix(knowledge.association, "association", n_classes, n_attributes);
  const Array& embedding = knowledge.class_embedding;
  const int64_t dim = embedding.defined() && embedding.dim() == 2 ? embedding.size(1) : 0;
  check_matrix(embedding, "class_embedding", n_classes, dim);
  if (dim == 0) fail("'class_embedding' of the knowledge has no columns");
  check_matrix(knowledge.attribute_embedding, "attribute_embedding", n_attributes, dim);
  check_sources(knowledge.embedding_sources, dim);
  check_names(knowledge.context, "context");
  if (!knowledge.context.empty()) {
    check_matrix(knowledge.context_embedding, "context_embedding", static_cast<int64_t>(knowledge.context.size()), dim);
  }
  check_range(knowledge);
}

std::string short_title(const Knowledge& knowledge, const std::string& name) {
  const auto title = knowledge.titles.find(name);
  if (title == knowledge.titles.end() || title->second.empty()) return name;
  return first_word(title->second);
}

void write_knowledge(const std::filesystem::path& path, const Knowledge& knowledge, const Provenance& provenance,
                     const nlohmann::json& details) {
  check_knowledge(knowledge);
  ArtefactHeader header = make_header("knowledge", kFormatVersion, provenance);
  header.details = details;
  NpzWriter writer(path);
  writer.add("classes", knowledge.classes);
  writer.add("attributes", knowledge.attributes);
  writer.add("class_titles", titles_of(knowledge, knowledge.classes));
  writer.add("attribute_titles", titles_of(knowledge, knowledge.attributes));
  writer.add("association", knowledge.association);
  writer.add("class_embedding", knowledge.class_embedding);
  writer.add("attribute_embedding", knowledge.attribute_embedding);
  if (!knowledge.embedding_sources.empty()) writer.add("embedding_sources", Array::of(knowledge.embedding_sources));
  if (!knowledge.context.empty()) {
    writer.add("context", knowledge.context);
    writer.add("context_embedding", knowledge.context_embedding);
  }
  add_header(writer, header);
  writer.close();
}

Knowledge read_knowledge(const std::filesystem::path& path) {
  const NpzReader reader(path);
  Knowledge knowledge = read_members(reader);
  try {
    check_knowledge(knowledge);
  } catch (const Error& error) {
    fail("{}: {}", path.string(), error.what());
  }
  knowledge.content_hash = hash_file(path);
  return knowledge;
}

}  // namespace protocom
