#pragma once
#include <vector>

#include "store/detail/database.h"

namespace protocom {

/// Returns the tables whose rows are added and removed by changes (docs/formats.md): a row belongs to the change that
/// added it, stays when another change removes it or its own is undone, and is never rewritten, so that the last change
/// can be undone and redone. They are in the order in which undo processes them.
std::vector<const char*> changing_tables();

/// Creates the tables of a recognizer in an empty file.
void create_schema(const Database& database);

/// Deletes rows added by undone changes, and the information for redoing these, within the caller's transaction.
void forget_undone(const Database& database);

/// Returns the format version stated by the file (`user_version`).
int64_t format_of(const Database& database);

/// Throws Error unless the file is a recognizer of a known version, with its tables and nothing else: triggers or views
/// of an untrusted file must not run.
void check_schema(const Database& database);

}  // namespace protocom
