#pragma once
#include <string>

#include "base/error.h"

namespace protocom {

/// What decides where a list has several classes for an image, and where the photos' keywords are the list.
struct ListChoices {
  /// The one whose answers are the classes, by its name in the project; empty: the only one.
  std::string question = {};
  /// Whose answers count, by number or address; "majority": those of most; empty: all agree.
  std::string annotator = {};
  /// What names the classes of a folder (parse_keyword_choice); empty: its folders or a list.
  std::string classes_from = {};
};

/// A list whose classes are ambiguous: options must choose.
class UndecidedList : public Error {
 public:
  using Error::Error;
};

/// Those of this process; nothing is chosen unless set_list_choices() was called.
ListChoices list_choices();
/// Sets them for all threads of this process.
void set_list_choices(const ListChoices& choices);

}  // namespace protocom
