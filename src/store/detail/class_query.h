#pragma once
#include <optional>
#include <string>

#include "store/detail/database.h"
#include "store/recognizer_file.h"

namespace protocom {

/// A column for live_classes(): how many images the class has.
inline constexpr const char* kCountImages =
    ", (SELECT count(*) FROM examples e WHERE e.class = c.id AND e.removed_by IS NULL)";

/// Live classes with their live name and description, then more columns. More conditions can follow.
std::string live_classes(const char* more_columns = "");
enum ClassColumn { kId, kName, kTime, kTitle, kAssociation, kEmbedding, kSource, kImages };

/// Throws UsageError for what no class can be called (checked_class_name), unless one is in a file that something else
/// has made. Before reading(), which takes a UsageError for a fault of the file.
void check_class_name(const Database& database, const std::string& name);

/// The class of that name that is there now, however the name is written (clean_name): every look-up goes through here.
/// A name that a file has as it is written finds its class first.
std::optional<int64_t> live_class(const Database& database, const std::string& name);

/// What messages call a class: the file and its name.
std::string class_label(const Database& database, const Statement& class_row);

/// Throws Error that says `label` is damaged where vectors have another length.
ClassDescription description_at(const Statement& class_row, const RecognizerSettings& settings,
                                const std::string& label);

}  // namespace protocom
