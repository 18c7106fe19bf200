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

/// A class to describe: its description, and what is needed to interpret it.
struct ClassToDescribe : ClassRequest {
  UnknownAttribute unknown = UnknownAttribute::kRefuse;  ///< what becomes of attributes that the knowledge lacks
  std::filesystem::path vectors = {};                    ///< the word vectors the knowledge was made with; empty: none
  std::filesystem::path wordnet = {};                    ///< read only for a synset; empty: kWordNetFolder
  /// Of its descriptions, or of its texts in a file: float32 [e], by the text encoder that the knowledge's vectors are
  /// of; undefined: there are none.
  Array text_vector = {};

  /// Whether more is known than its name and the vectors of all words.
  [[nodiscard]] bool is_described() const { return !says_nothing() || text_vector.defined(); }
};

/// Describes a class for a recognizer's model. With neither attributes nor a synset the knowledge's own row of a class
/// of that name is taken; a name the knowledge does not know is logged as a warning and gets no attributes. Attributes
/// that no base class has cannot help: they go into `left_out` if it is given and the class has no synset, else they
/// are logged. Nothing known: no attributes, a zero embedding, source "nothing". A text's vector becomes the embedding,
/// as long as the knowledge's own are in the median, source "text".
/// Throws Error for such a vector if the knowledge has no vectors of texts or vectors of another length, UsageError for
/// attributes together with a synset, and what describe_by_attributes and describe_by_synset throw.
ClassDescription describe_class(const Knowledge& knowledge, const StoreModel& model, const ClassToDescribe& request,
                                std::set<std::string>* left_out = nullptr);

/// The same without knowledge: only a name. Throws UsageError if anything else is given.
ClassDescription describe_without_knowledge(const ClassToDescribe& request);

}  // namespace protocom
