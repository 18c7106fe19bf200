#include "knowledge/class_description.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/near_matches.h"
#include "base/singular_values.h"
#include "base/text.h"
#include "knowledge/attribute_table.h"
#include "knowledge/choose_synset.h"
#include "knowledge/detail/joined.h"
#include "knowledge/detail/word_forms.h"
#include "knowledge/graph_embedding.h"
#include "knowledge/names.h"
#include "knowledge/word_vectors.h"

namespace protocom {
namespace {

std::string embedding_kind(const Knowledge& knowledge) {
  return knowledge.details.value("/embedding/kind"_json_pointer, std::string());
}

/// Whether one of the names in a title "beak, bill, neb" is `name`.
bool is_titled(const std::string& title, const std::string& name) {
  const std::vector<std::string_view> words = split_at(title, ',');
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return is_same_word(std::string(word), name); });
}

/// Returns the attributes meant by a text; none if it is unknown and may be left out.
std::vector<std::string> find_attributes(const Knowledge& knowledge, const std::string& text,
                                         UnknownAttribute unknown) {
  const std::string name(trimmed(text));
  if (knowledge.attribute_index(name) >= 0) return {name};
  std::vector<std::string> found;
  std::vector<std::string> known;
  for (const std::string& attribute : knowledge.attributes) {
    const auto title = knowledge.titles.find(attribute);
    known.push_back(title == knowledge.titles.end() ? attribute : title->second);
    if (is_titled(known.back(), name) || is_same_word(attribute, name)) found.push_back(attribute);
  }
  if (found.empty() && unknown == UnknownAttribute::kRefuse)
    fail("unknown attribute '{}'{}", name, did_you_mean(name, known));
  return found;
}

/// Returns the embedding of these names; nothing if none of their words has a vector.
std::optional<Array> embed_names(const Knowledge& knowledge, const std::vector<std::string>& lemmas,
                                 const std::filesystem::path& path) {
  if (embedding_kind(knowledge) == "graph-svd") {
    fail(
        "{}: word vectors were given, but the knowledge was embedded without any; leave them out, or build the "
        "knowledge with them",
        path.string());
  }
  std::set<std::string> wanted;
  for (const std::string& lemma : lemmas) add_wanted_words(lemma, wanted);
  const WordVectors vectors = read_word_vectors(path, wanted);
  if (vectors.dim != knowledge.embedding_dim()) {
    fail("{}: vectors of {} dimensions, but the knowledge was made with {}; name the vectors it was made with",
         path.string(), vectors.dim, knowledge.embedding_dim());
  }
  if (vectors.words.empty()) return std::nullopt;
  std::set<std::string> missing;
  return embed_lemmas(vectors, lemmas, missing);
}

void set_embedding(ClassDescription& described, Array embedding, const char* source) {
  described.embedding = std::move(embedding);
  described.embedding_source = source;
}

/// Embeds by the attributes, if the class has any; else nothing is known to place it.
void embed_by_attributes(const Knowledge& knowledge, ClassDescription& described) {
  if ((matrix_of<float>(described.association).array() != 0).any())
    set_embedding(described, place_by_attributes(knowledge, described.association), "attributes");
  else
    set_embedding(described, Array::zeros({knowledge.embedding_dim()}), "nothing");
}

bool embed_by_words(const Knowledge& knowledge, const std::vector<std::string>& lemmas, const DescribeOptions& options,
                    ClassDescription& described) {
  if (!options.vectors) return false;
  auto embedding = embed_names(knowledge, lemmas, *options.vectors);
  if (!embedding) return false;
  set_embedding(described, std::move(*embedding), "word-vectors");
  return true;
}

std::vector<Meronym> relations_of(const Knowledge& knowledge) {
  if (knowledge.details.value("/source/kind"_json_pointer, std::string()) != "wordnet") {
    fail("a synset was named, but the knowledge is not made from WordNet: name the class's attributes");
  }
  std::vector<Meronym> relations;
  for (const auto& relation : knowledge.details.at("source").at("relations"))
    relations.push_back(parse_meronym(relation.get<std::string>()));
  return relations;
}

/// Returns the synsets of the knowledge's classes: their names, or what they were mapped to.
std::vector<std::string> synsets_of(const Knowledge& knowledge) {
  const auto mapped = knowledge.details.value("/source/synsets"_json_pointer, nlohmann::json::object());
  std::vector<std::string> synsets;
  for (const std::string& name : knowledge.classes)
    synsets.push_back(mapped.contains(name) ? mapped.at(name).get<std::string>() : name);
  return synsets;
}

/// Returns the places of rows of [attributes | context] in the graph's embedding, [c, e].
Array place_in_graph(const Knowledge& knowledge, const Array& association, const Array& context) {
  if (knowledge.context.empty()) return place_rows(knowledge.attribute_embedding, association);
  return place_rows(Array::joined({knowledge.attribute_embedding, knowledge.context_embedding}),
                    beside(association, context));
}

/// Returns the place of one class, [e].
Array place_in_graph(const Knowledge& knowledge, const Array& association, const std::vector<std::string>& context) {
  const Array known = restrict_to(context, knowledge.context);
  return place_in_graph(knowledge, association.reshaped({1, association.size(0)}), known.reshaped({1, known.size(0)}))
      .row(0);
}

/// Sets the class's row of R; an attribute that is named twice has the larger weight.
void set_row(const Knowledge& knowledge, const std::vector<std::string>& attributes, const DescribeOptions& options,
             ClassDescription& described) {
  const std::vector<float>& weights = options.weights;
  if (!weights.empty() && weights.size() != attributes.size())
    fail_usage("{} attributes have {} weights, expected one each", attributes.size(), weights.size());
  for (const float weight : weights) {
    // The negation also refuses NaN.
    if (!(weight > 0 && weight <= 1))
      fail_usage("an attribute has the weight {}, expected more than 0, up to 1", weight);
  }
  described.association = Array::zeros({static_cast<int64_t>(knowledge.attributes.size())});
  auto* row = described.association.mutable_data<float>();
  for (size_t i = 0; i < attributes.size(); ++i) {
    const std::vector<std::string> known = find_attributes(knowledge, attributes[i], options.unknown);
    if (known.empty()) described.unknown_attributes.push_back(attributes[i]);
    for (const std::string& text : known) {
      float& own = row[knowledge.attribute_index(text)];
      own = std::max(own, weights.empty() ? 1.0F : weights[i]);
    }
  }
}

/// Singular values of the attributes' places below this share of the first are rounding errors.
constexpr double kInverseTolerance = 1e-6;

DoubleMatrix precise(const Array& matrix) { return matrix_of<float>(matrix).cast<double>(); }

/// Returns an array float32 [e].
Array vector_of(const DoubleVector& values) { return array_of_matrix(values.cast<float>()).reshaped({values.size()}); }

Array place_by_least_squares(const Knowledge& knowledge, const Array& association) {
  if (knowledge.attributes.empty()) return Array::zeros({knowledge.embedding_dim()});
  const SingularValues attributes = singular_values(precise(knowledge.attribute_embedding));  // of [a, e]
  const int64_t rank = (attributes.values.array() > attributes.values[0] * kInverseTolerance).count();
  if (rank == 0) return Array::zeros({knowledge.embedding_dim()});
  const DoubleVector row = precise(association).transpose();  // [a]
  const DoubleVector shares =
      (attributes.left_rows.topRows(rank) * row).cwiseQuotient(attributes.values.head(rank));  // [rank]
  return vector_of(attributes.right_rows.topRows(rank).transpose() * shares);
}

Array place_by_ridge_regression(const Knowledge& knowledge, const Array& association) {
  const DoubleMatrix rows = precise(knowledge.association);         // [c, a]
  const DoubleMatrix targets = precise(knowledge.class_embedding);  // [c, e]
  const Eigen::RowVectorXd row_mean = rows.colwise().mean(), target_mean = targets.colwise().mean();
  const DoubleMatrix centred = rows.rowwise() - row_mean;
  // The c x c form of the same solution, X'(XX' + lambda I)^-1 Y, also holds without any attribute.
  DoubleMatrix gram = centred * centred.transpose();
  gram.diagonal().array() += kAttributeRidge;
  const DoubleVector similarity = centred * (precise(association) - row_mean).transpose();  // [c]
  const DoubleVector weights = gram.llt().solve(similarity);                                // [c]
  const DoubleVector shift = (targets.rowwise() - target_mean).transpose() * weights;       // [e]
  return vector_of(target_mean.transpose() + shift);
}

}  // namespace

ClassDescription describe_by_attributes(const Knowledge& knowledge, const std::string& name,
                                        const std::vector<std::string>& attributes, const DescribeOptions& options) {
  ClassDescription described;
  described.title = title_of_name(name);
  set_row(knowledge, attributes, options, described);
  if (!embed_by_words(knowledge, {lemma_of_name(name)}, options, described)) embed_by_attributes(knowledge, described);
  return described;
}

ClassDescription describe_by_synset(const Knowledge& knowledge, const WordNet& wordnet, const std::string& synset,
                                    const DescribeOptions& options) {
  if (!options.weights.empty()) fail_usage("weights need named attributes: leave them out with a synset");
  const std::vector<Meronym> relations = relations_of(knowledge);
  const auto wnid = choose_synset(wordnet, synset, Kinship(wordnet, synsets_of(knowledge)));
  if (!wnid) fail("WordNet has no synset '{}'; expected a wnid (n02084071), a sense (dog.n.01) or a lemma", synset);
  const Synset found = wordnet.synset(*wnid);
  ClassDescription described;
  described.title = title(found);
  described.association =
      restrict_to(wordnet.attributes(*wnid, relations), knowledge.attributes, &described.unknown_attributes);
  if (embed_by_words(knowledge, found.lemmas, options, described)) return described;
  if (embedding_kind(knowledge) == "graph-svd") {
    set_embedding(described, place_in_graph(knowledge, described.association, wordnet.ancestors(*wnid)), "graph-svd");
  } else {
    embed_by_attributes(knowledge, described);
  }
  return described;
}

Array place_by_attributes(const Knowledge& knowledge, const Array& association) {
  return embedding_kind(knowledge) == "graph-svd" ? place_by_least_squares(knowledge, association)
                                                  : place_by_ridge_regression(knowledge, association);
}

Array embedding_change(const Knowledge& knowledge, const Array& association_change) {
  const int64_t classes = association_change.size(0);
  if (embedding_kind(knowledge) != "graph-svd") return Array::zeros({classes, knowledge.embedding_dim()});
  return place_in_graph(knowledge, association_change,
                        Array::zeros({classes, static_cast<int64_t>(knowledge.context.size())}));
}

}  // namespace protocom
