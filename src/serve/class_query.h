#pragma once
#include <string>

#include "protocom/serve/recognizer_file.h"
#include "serve/database.h"

namespace protocom {

/// A column for live_classes(): how many examples have a feature. Without moments all have, and an index counts them.
inline constexpr const char* kCountFeatures =
    ", CASE WHEN m.count IS NULL "
    "THEN (SELECT count(*) FROM examples e WHERE e.class = c.id AND e.removed_by IS NULL) "
    "ELSE (SELECT count(*) FROM examples e WHERE e.class = c.id AND e.removed_by IS NULL "
    "AND typeof(e.feature) <> 'null') END";

/// Live classes with their live name, description and moments, then more columns. More conditions can follow.
std::string live_classes(const char* more_columns = "");
enum ClassColumn { kId, kName, kTime, kTitle, kAssociation, kEmbedding, kSource, kCount, kSum, kSumSquares, kFeatures };

/// What messages call a class: the file and its name.
std::string class_label(const Database& database, const Statement& class_row);

/// Throws Error that says `label` is damaged where vectors have another length.
ClassDescription description_at(const Statement& class_row, const RecognizerSettings& settings,
                                const std::string& label);

}  // namespace protocom
