#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "knowledge/class_description.h"
#include "knowledge/knowledge.h"
#include "knowledge/wordnet.h"
#include "recognizer/store_model.h"
#include "store/enrolled_classes.h"

namespace protocom {

/// What is said about a class at its enrolment: attributes, or a synset, or nothing but its name.
struct ClassRequest {
  std::string name;
  std::vector<std::string> attributes;                   ///< as describe_by_attributes takes them
  std::vector<float> weights = {};                       ///< of the attributes, as DescribeOptions has them
  UnknownAttribute unknown = UnknownAttribute::kRefuse;  ///< what becomes of attributes that the knowledge lacks
  std::string synset;                                    ///< as WordNet::resolve takes it
  std::filesystem::path vectors;                         ///< the word vectors the knowledge was made with; empty: none
  std::filesystem::path wordnet = kWordNetFolder;        ///< read only for a synset
  /// What is said of the class in words, float32 [e], by the text encoder that the knowledge's vectors are of;
  /// undefined: nothing.
  Array text_vector = {};
};

/// Describes a class for a recognizer's model. With neither attributes nor a synset the knowledge's own row of a class
/// of that name is taken; a name the knowledge does not know is logged as a warning and gets no attributes. Attributes
/// that no base class has cannot help: they are logged, or those of a request that leaves unknown ones out go into
/// `left_out`. Nothing known: no attributes, a zero embedding, source "nothing". A text's vector becomes the embedding,
/// as long as the knowledge's own are in the median, source "text".
/// Throws Error for such a vector where the knowledge has none of texts or of another length, UsageError when both are
/// given, else what describe_by_attributes and describe_by_synset throw.
ClassDescription describe_class(const Knowledge& knowledge, const StoreModel& model, const ClassRequest& request,
                                std::set<std::string>* left_out = nullptr);

/// The same without knowledge: only a name. Throws UsageError if anything else is given.
ClassDescription describe_without_knowledge(const ClassRequest& request);

}  // namespace protocom
