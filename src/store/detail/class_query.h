#pragma once
#include <optional>
#include <string>

#include "store/detail/database.h"
#include "store/recognizer_file.h"

namespace protocom {

/// A column for live_classes(): the number of images of the class.
inline constexpr const char* kCountImages =
    ", (SELECT count(*) FROM examples e WHERE e.class = c.id AND e.removed_by IS NULL)";

/// Returns a query for live classes with their live name and description, then more columns. More conditions can
/// follow.
std::string live_classes(const char* more_columns = "");
enum ClassColumn { kId, kName, kTime, kTitle, kAssociation, kEmbedding, kSource, kImages };

/// Throws UsageError for an invalid class name (checked_class_name), unless a file made by another program contains it.
/// Call it before reading(), which treats a UsageError as a fault of the file.
void check_class_name(const Database& database, const std::string& name);

/// Returns the live class of that name, however the name is written (clean_name): every look-up goes through here. A
/// name that occurs in the file exactly as written has precedence.
std::optional<int64_t> live_class(const Database& database, const std::string& name);

/// Returns the name of a class in messages: the file and its name.
std::string class_label(const Database& database, const Statement& class_row);

/// Reads a description. Throws Error that says `label` is damaged if its vectors have another length.
ClassDescription description_at(const Statement& class_row, const RecognizerSettings& settings,
                                const std::string& label);

}  // namespace protocom
