#pragma once
#include "serve/database.h"

namespace protocom {

/// Deletes what changes that were undone had added, and how to do them again, within the caller's transaction.
void forget_undone(const Database& database);

}  // namespace protocom
