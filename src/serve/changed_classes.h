#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "protocom/serve/recognizer_file.h"
#include "serve/database.h"

namespace protocom {

/// What of a class has to be read again.
enum class Reread { kDescription, kNewExamples, kAll };

using Changed = std::map<int64_t, Reread>;  // by the classes' ids

/// In which classes the file differs from what the steps led to; nothing where that cannot be told. Steps whose last
/// change was undone are taken off: what they had changed has changed back.
std::optional<Changed> changed_since(const Database& database, int64_t now, std::vector<SnapshotStep>& steps);

}  // namespace protocom
