#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/array.h"
#include "knowledge/knowledge.h"
#include "knowledge/wordnet.h"

namespace protocom {

/// The description of a class besides its images.
struct ClassDescription {
  std::string title;  ///< display name; may be empty
  Array association;  ///< the class's row of R, float32 [a], in [0, 1]
  Array embedding;    ///< h_k, float32 [e]
  /// The origin of the embedding, by the rules below: "word-vectors", "graph-svd", "attributes" or "nothing";
  /// "knowledge": a row of a file; "text": a description in words, by a text encoder.
  std::string embedding_source;
  /// Its attributes that the knowledge lacks because no base class has them: they cannot help.
  std::vector<std::string> unknown_attributes = {};
};

/// The treatment of a named attribute that the knowledge lacks.
enum class UnknownAttribute {
  kRefuse,   ///< an Error: it may be mistyped
  kLeaveOut  ///< listed in ClassDescription::unknown_attributes, as when reading a table of base classes
};

/// Inputs for describing a new class.
struct DescribeOptions {
  /// The word vectors that the knowledge was made with. Without them a class is placed by its attributes alone.
  std::optional<std::filesystem::path> vectors;
  /// Weight of each attribute, in (0, 1], as in the knowledge; empty: all 1.
  std::vector<float> weights = {};
  UnknownAttribute unknown = UnknownAttribute::kRefuse;
};

/// Describes a class of this name with these attributes, each named as in the knowledge or by one of the names in its
/// title ("bill" for "beak, bill, neb"; every attribute with that name is meant), ignoring case, surrounding spaces and
/// the plural. Its embedding:
///   - with word vectors: embed_lemmas of the name (its lemma_of_name); if no word of the name has a vector, as
/// without;
///   - else the embedding by place_by_attributes;
///   - for a class without an attribute known to the knowledge, zeros.
///
/// Throws Error for an attribute unknown to the knowledge (with near matches) unless those are left out, and for
/// vectors of another dimension; UsageError unless there is one weight per attribute, in (0, 1].
ClassDescription describe_by_attributes(const Knowledge& knowledge, const std::string& name,
                                        const std::vector<std::string>& attributes,
                                        const DescribeOptions& options = {});

/// Describes the class of `synset` (see choose_synset, with the knowledge's classes as its kin), with its attributes by
/// the relations that the knowledge was made with. Its embedding:
///   - with word vectors: embed_lemmas of the synset's lemmas, as for the knowledge's own classes;
///   - in a graph embedding: its attributes and hypernyms placed by the same rule as the knowledge's own classes
///     (place_rows): exactly the embedding it would have had as a val or novel class of a `base` vocabulary;
///   - else place_by_attributes, or zeros without an attribute known to the knowledge.
///
/// Throws Error if the knowledge is not made from WordNet, WordNet has no such synset or the vectors' dimension
/// differs; UsageError for weights.
ClassDescription describe_by_synset(const Knowledge& knowledge, const WordNet& wordnet, const std::string& synset,
                                    const DescribeOptions& options = {});

/// lambda of the ridge regression in place_by_attributes. By leave-one-out over the classes, the cosine between the
/// predicted and the true (GloVe 50-d) embedding is 0.50 on Tiny-ImageNet-100 and 0.56 on CUB-100 with 10, 0.48 and
/// 0.45 with 1; the mean of the attributes' own vectors reaches 0.34 and 0.37.
inline constexpr double kAttributeRidge = 10.0;

/// Returns the embedding of a class of which only a row of R is known, float32 [a] -> [e].
///   - In a graph embedding: the place whose dot products with the attributes are closest to the row, h = pinv(H_a) r.
///     Its leave-one-out cosine is 0.91 on Tiny-ImageNet-100, where hypernyms are missing from the row; it is exact
///     if the graph has no context.
///   - Among word vectors, where attributes ("paw") are far from classes ("dog"): ridge regression from rows of R
///     to h over the classes of the knowledge, h = mean_h + (r - mean_r) W, W = (X'X + lambda I)^-1 X'Y on centred
///     X = R and Y = h.
Array place_by_attributes(const Knowledge& knowledge, const Array& association);

/// Returns the change in the embeddings of classes for a change of their rows of R, float32 [c, a] -> [c, e]: in a
/// graph embedding, which is linear in them (place_rows), the place of the change; zeros for word vectors, which do not
/// depend on R.
Array embedding_change(const Knowledge& knowledge, const Array& association_change);

}  // namespace protocom
