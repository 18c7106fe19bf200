#pragma once
#include <string>
#include <string_view>

namespace protocom {

/// The words of a class or attribute name of a table or folder, joined by '_' as a WordNet lemma is, in the case they
/// were written in: a leading number goes ("001.", "017_"); anything that is neither a letter, a digit, '-' nor part of
/// a UTF-8 character separates, and so does the change from two or more small letters to a capital; a possessive 's
/// goes. "001.Black_footed_Albatross" -> "Black_footed_Albatross", "bill_shape::curved_(up_or_down)" ->
/// "bill_shape_curved_up_or_down", "goldenRetriever" -> "golden_Retriever". A name without any letter or digit gives
/// "".
std::string lemma_of_name(std::string_view name);

/// The same words as a display name: '_' becomes a space.
std::string title_of_name(std::string_view name);

}  // namespace protocom
