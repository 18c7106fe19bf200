#pragma once
#include <string>

#include "protocom/serve/recognizer_file.h"
#include "serve/database.h"

namespace protocom {

/// Live classes with their live name, description and moments, and how many examples have a feature. More conditions
/// can follow.
inline constexpr const char* kLiveClasses =
    "SELECT c.id, n.name, c.time, d.title, d.association, d.embedding, d.source, m.count, m.sum, m.sum_squares, "
    "(SELECT count(*) FROM examples e WHERE e.class = c.id AND e.removed_by IS NULL AND typeof(e.feature) <> 'null') "
    "FROM classes c JOIN names n ON n.class = c.id AND n.removed_by IS NULL "
    "JOIN descriptions d ON d.class = c.id AND d.removed_by IS NULL "
    "LEFT JOIN moments m ON m.class = c.id AND m.removed_by IS NULL WHERE c.removed_by IS NULL";
enum ClassColumn { kId, kName, kTime, kTitle, kAssociation, kEmbedding, kSource, kCount, kSum, kSumSquares, kFeatures };

/// What messages call a class: the file and its name.
std::string class_label(const Database& database, const Statement& class_row);

/// Throws Error that says `label` is damaged where vectors have another length.
ClassDescription description_at(const Statement& class_row, const RecognizerSettings& settings,
                                const std::string& label);

}  // namespace protocom
