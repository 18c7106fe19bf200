#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/array.h"
#include "store/detail/database.h"
#include "store/recognizer_file.h"

namespace protocom {

/// Returns the current time, seconds since 1970.
int64_t seconds_now();

/// Returns "1 image", "2 images".
std::string count_of(int64_t count, const char* what);

/// Returns the length of the file, including what is not yet written.
int64_t bytes_of(const Database& database);

/// Throws DatabaseError if the file, `before` bytes long before this change, would leave too little disk space to undo
/// the change: as much as it added, which may not be written yet either.
void check_room(const Database& database, int64_t before);

/// Throws DatabaseError if no further change is possible: SQLite reports a table whose numbers are used up as a full
/// disk.
void check_number_left(const Database& database);

/// Returns the number type in which features are stored.
NumberType type_of(const RecognizerSettings& settings);

/// Throws Error that begins with `label` unless the images suit the recognizer and one another.
void check_examples(const RecognizerSettings& settings, const std::string& label, const NewExamples& examples);

/// One transaction and its entry in the list of changes, which `made` holds once it is committed. It makes redo of
/// earlier undone changes impossible.
class Change {
 public:
  Change(const Database& database, const std::string& what, std::optional<ChangeEntry>& made);

  [[nodiscard]] int64_t id() const { return entry_.id; }
  /// Sets the description of the change if that is known only at its end.
  void call(const std::string& what);
  void commit();
  /// Removes the live rows of a table whose `column` is `value`; returns their number.
  int64_t remove(const std::string& table, const std::string& column, int64_t value) const;

 private:
  const Database& database_;
  Transaction transaction_;
  ChangeEntry entry_;
  std::optional<ChangeEntry>& made_;
};

}  // namespace protocom
