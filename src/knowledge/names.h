#pragma once
#include <string>
#include <string_view>

namespace protocom {

/// Returns the words of a class or attribute name in a table or folder, joined by '_' like a WordNet lemma, in their
/// original case: removes a leading number ("001.", "017_"); anything but a letter, a digit, '-' or part of a UTF-8
/// character separates words, and so does the change from two or more lower-case letters to a capital; removes a
/// possessive 's. "001.Black_footed_Albatross" -> "Black_footed_Albatross", "bill_shape::curved_(up_or_down)" ->
/// "bill_shape_curved_up_or_down", "goldenRetriever" -> "golden_Retriever". A name without any letter or digit gives
/// "".
std::string lemma_of_name(std::string_view name);

/// Returns the same words as a display name: '_' becomes a space.
std::string title_of_name(std::string_view name);

}  // namespace protocom
