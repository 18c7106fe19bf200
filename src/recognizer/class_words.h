#pragma once
#include <string>
#include <vector>

#include "encoders/text_encoder.h"
#include "knowledge/class_texts.h"
#include "knowledge/knowledge.h"
#include "recognizer/describe_class.h"

namespace protocom {

/// Returns the vectors of texts as encoded, float32 [n, d]; logs the number of truncated texts as a warning. Throws
/// what TextEncoder::encode throws.
Array encode_texts(const TextEncoder& encoder, const std::vector<std::string>& texts);

/// Returns the vectors of classes from their texts, float32 [c, d] of unit length. Throws what encode_texts and
/// class_directions throw.
Array encode_classes(const TextEncoder& encoder, const ClassTexts& texts);

/// Sets the vector of a class from its descriptions. Throws UsageError without descriptions and for an empty text, and
/// what encode_classes throws.
void describe_in_words(const TextEncoder& encoder, ClassToDescribe& request);

/// Does the same but returns the warning instead of logging it: a sentence about truncated texts, empty if there are
/// none.
std::string set_text_vector(const TextEncoder& encoder, ClassToDescribe& request);

/// Throws what describe_class and describe_without_knowledge throw if a class of that name cannot be described by a
/// vector of `numbers` numbers. `knowledge`: the recognizer's; nullptr: none.
void check_takes_words(const Knowledge* knowledge, const std::string& name, int64_t numbers);

/// Returns the offset in a class's embedding of a text vector with this many dimensions: 0, or in embeddings of several
/// sources that of the only part of this size; -1: the vector is of another encoder.
int64_t begin_of_words(const Knowledge& knowledge, int64_t numbers);

/// Makes knowledge from class names alone, each in kTextTemplate, by a text encoder whose vectors are comparable with
/// those of images. Without names, descriptions of classes can be added to it later. Throws UsageError for another text
/// encoder.
Knowledge knowledge_of_names(const TextEncoder& encoder, const std::vector<std::string>& names);

}  // namespace protocom
