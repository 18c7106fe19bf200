#pragma once
#include <string>
#include <vector>

#include "encoders/text_encoder.h"
#include "knowledge/class_texts.h"
#include "knowledge/knowledge.h"
#include "recognizer/describe_class.h"

namespace protocom {

/// The vectors of texts as the encoder gives them, float32 [n, d]; the number of cut texts is logged as a warning.
/// Throws what TextEncoder::encode throws.
Array encode_texts(const TextEncoder& encoder, const std::vector<std::string>& texts);

/// The vectors of classes by their texts, float32 [c, d] of unit length. Throws what encode_texts and class_directions
/// throw.
Array encode_classes(const TextEncoder& encoder, const ClassTexts& texts);

/// Makes the vector of a class's descriptions. Throws UsageError without one and for an empty text, and what
/// encode_classes throws.
void describe_in_words(const TextEncoder& encoder, ClassToDescribe& request);

/// The same for a caller that passes the warning on: a sentence about texts that were cut, empty if none was.
std::string set_text_vector(const TextEncoder& encoder, ClassToDescribe& request);

/// Throws what describe_class and describe_without_knowledge throw where a class of that name cannot be described by a
/// vector of `numbers` numbers. `knowledge`: the recognizer's; nullptr: none.
void check_takes_words(const Knowledge* knowledge, const std::string& name, int64_t numbers);

/// Where in a class's embedding a text's vector of this many dimensions begins: at 0, or of embeddings of several
/// sources at the only one of that size; -1: it is of another encoder.
int64_t begin_of_words(const Knowledge& knowledge, int64_t numbers);

/// Knowledge of nothing but names, each in kTextTemplate, by a text encoder whose vectors compare with images; of no
/// name knowledge to which descriptions of classes can be added later. Throws UsageError for another text encoder.
Knowledge knowledge_of_names(const TextEncoder& encoder, const std::vector<std::string>& names);

}  // namespace protocom
