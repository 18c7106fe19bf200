#pragma once
#include <vector>

#include "store/detail/database.h"

namespace protocom {

/// Tables of which rows are added and removed by changes (docs/formats.md): a row belongs to the change that added it,
/// stays when another removes it or its own is undone, and is never rewritten, so that the last change can be undone
/// and done again. In the order in which undoing goes through them.
std::vector<const char*> changing_tables();

/// Makes the tables of a recognizer in an empty file.
void create_schema(const Database& database);

/// Deletes what changes that were undone had added, and how to do them again, within the caller's transaction.
void forget_undone(const Database& database);

/// The format version that the file states (`user_version`).
int64_t format_of(const Database& database);

/// Throws Error unless the file is a recognizer of a version that is known, with its tables and nothing else: no
/// trigger or view of an untrusted file runs.
void check_schema(const Database& database);

}  // namespace protocom
