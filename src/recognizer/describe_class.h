#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "knowledge/class_description.h"
#include "knowledge/knowledge.h"
#include "protocom/class_request.h"
#include "recognizer/store_model.h"
#include "store/enrolled_classes.h"

namespace protocom {

/// A class to describe: its description, and the files needed to interpret it.
struct ClassToDescribe : ClassRequest {
  UnknownAttribute unknown = UnknownAttribute::kRefuse;  ///< treatment of attributes that the knowledge lacks
  std::filesystem::path vectors = {};  ///< the word vectors that the knowledge was made with; empty: none
  std::filesystem::path wordnet = {};  ///< read only for a synset; empty: kWordNetFolder
  /// Vector of its descriptions, or of its texts in a file: float32 [e], by the text encoder of the knowledge's
  /// vectors; undefined: none.
  Array text_vector = {};

  /// Whether more is given than its name and the vectors of all words.
  [[nodiscard]] bool is_described() const { return !says_nothing() || text_vector.defined(); }
};

/// Describes a class for a recognizer's model. With neither attributes nor a synset, uses the knowledge's own row for a
/// class of that name; a name unknown to the knowledge is logged as a warning and gets no attributes. Attributes that
/// no base class has cannot help: they go into `left_out` if that is given and the class has no synset, else they are
/// logged. If nothing is known: no attributes, a zero embedding, source "nothing". A text's vector becomes the
/// embedding, scaled to the median length of the knowledge's own, with source "text".
/// Throws Error for such a vector if the knowledge has no vectors of texts or vectors of another length, UsageError for
/// attributes together with a synset, and what describe_by_attributes and describe_by_synset throw.
ClassDescription describe_class(const Knowledge& knowledge, const StoreModel& model, const ClassToDescribe& request,
                                std::set<std::string>* left_out = nullptr);

/// Describes a class without knowledge: only by its name. Throws UsageError if anything else is given.
ClassDescription describe_without_knowledge(const ClassToDescribe& request);

}  // namespace protocom
