#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/array.h"
#include "knowledge/knowledge.h"
#include "knowledge/wordnet.h"

namespace protocom {

/// What is known of a class besides its images.
struct ClassDescription {
  std::string title;  ///< display name; may be empty
  Array association;  ///< the class's row of R, float32 [a], in [0, 1]
  Array embedding;    ///< h_k, float32 [e]
  /// Which rule below gave it: "word-vectors", "graph-svd", "attributes" or "nothing"; "knowledge": a row of a file;
  /// "text": what was said of it in words, by a text encoder.
  std::string embedding_source;
  /// Attributes it has that the knowledge does not have, for no base class has them: they cannot help.
  std::vector<std::string> unknown_attributes = {};
};

/// What becomes of a named attribute that the knowledge does not have.
enum class UnknownAttribute {
  kRefuse,   ///< an Error: it may be mistyped
  kLeaveOut  ///< ClassDescription::unknown_attributes has it: a table of base classes was read the same way
};

/// What may help to describe a new class.
struct DescribeOptions {
  /// The word vectors that the knowledge was made with. Without them a class is placed by its attributes alone.
  std::optional<std::filesystem::path> vectors;
  /// How much the class has of each attribute, in (0, 1], as the knowledge's own weights; empty: 1 of each.
  std::vector<float> weights = {};
  UnknownAttribute unknown = UnknownAttribute::kRefuse;
};

/// A class of this name with these attributes, each named as in the knowledge or by one of the names in its title
/// ("bill" for "beak, bill, neb"; every attribute so titled is meant), without regard to case, spaces around it or the
/// plural. Its embedding:
///   - word vectors given: embed_lemmas of the name (its lemma_of_name); when no word of the name has a vector, as
///     without them;
///   - else the embedding that place_by_attributes gives;
///   - of a class without an attribute that the knowledge knows, zeros.
///
/// Throws Error for an attribute the knowledge does not know (with near matches) unless those are left out, and for
/// vectors of another dimension; UsageError for weights that are not one an attribute or not in (0, 1].
ClassDescription describe_by_attributes(const Knowledge& knowledge, const std::string& name,
                                        const std::vector<std::string>& attributes,
                                        const DescribeOptions& options = {});

/// The class that `synset` (see choose_synset, with the knowledge's classes as its kin) stands for, its attributes by
/// the relations that the knowledge was made with. Its embedding:
///   - word vectors given: embed_lemmas of the synset's lemmas, as the knowledge's own classes;
///   - a graph embedding: its attributes and hypernyms placed by the same rule as the knowledge's own classes
///     (place_rows): the very embedding it would have had as a val or novel class of a `base` vocabulary;
///   - else place_by_attributes, or zeros without an attribute that the knowledge knows.
///
/// Throws Error when the knowledge is not made from WordNet, WordNet has no such synset or the vectors' dimension
/// differs; UsageError for weights.
ClassDescription describe_by_synset(const Knowledge& knowledge, const WordNet& wordnet, const std::string& synset,
                                    const DescribeOptions& options = {});

/// lambda of place_by_attributes' ridge regression. Leave-one-out over the classes, the cosine of the suggested to the
/// true (GloVe 50-d) embedding is 0.50 on Tiny-ImageNet-100 and 0.56 on CUB-100 with 10, 0.48 and 0.45 with 1; the mean
/// of the attributes' own vectors reaches 0.34 and 0.37.
inline constexpr double kAttributeRidge = 10.0;

/// Where a class belongs of which only a row of R is known, float32 [a] -> [e].
///   - In a graph embedding: the place whose dot products with the attributes come nearest to the row, h = pinv(H_a) r.
///     Its leave-one-out cosine is 0.91 on Tiny-ImageNet-100, where hypernyms are missing from the row; it is exact
///     where the graph has no context.
///   - Among word vectors, whose attributes ("paw") lie elsewhere than classes ("dog"): ridge regression from rows of R
///     to h over the classes of the knowledge, h = mean_h + (r - mean_r) W, W = (X'X + lambda I)^-1 X'Y on centred
///     X = R and Y = h.
Array place_by_attributes(const Knowledge& knowledge, const Array& association);

/// What a change of rows of R changes in the embeddings of those classes, float32 [c, a] -> [c, e]: in a graph
/// embedding, which is linear in them (place_rows), the place of the change; zeros among word vectors, which say
/// nothing of R.
Array embedding_change(const Knowledge& knowledge, const Array& association_change);

}  // namespace protocom
