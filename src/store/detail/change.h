#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/array.h"
#include "store/detail/database.h"
#include "store/recognizer_file.h"

namespace protocom {

/// Seconds since 1970.
int64_t seconds_now();

/// "1 image", "2 images".
std::string count_of(int64_t count, const char* what);

/// How long the file is, with what is not written yet.
int64_t bytes_of(const Database& database);

/// Throws DatabaseError if the file, `before` bytes long until this change, would leave too little of the disk to
/// take the change back: as much as it added, which may not be written yet either.
void check_room(const Database& database, int64_t before);

/// Throws DatabaseError if no change can be made any more: SQLite calls a table whose numbers are used up a full
/// disk.
void check_number_left(const Database& database);

/// In what features lie in the file.
NumberType type_of(const RecognizerSettings& settings);

/// Throws Error that begins with `label` unless the images fit the recognizer and one another.
void check_examples(const RecognizerSettings& settings, const std::string& label, const NewExamples& examples);

/// One transaction and its entry in the list of changes, which `made` holds once it is committed. What was undone
/// before cannot be done again after it.
class Change {
 public:
  Change(const Database& database, const std::string& what, std::optional<ChangeEntry>& made);

  [[nodiscard]] int64_t id() const { return entry_.id; }
  /// Says what it was where that is known at its end only.
  void call(const std::string& what);
  void commit();
  /// Live rows of a table where `column` is `value`; returns how many there were.
  int64_t remove(const std::string& table, const std::string& column, int64_t value) const;

 private:
  const Database& database_;
  Transaction transaction_;
  ChangeEntry entry_;
  std::optional<ChangeEntry>& made_;
};

}  // namespace protocom
