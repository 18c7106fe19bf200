#include "store/detail/class_query.h"

#include "base/clean_name.h"
#include "base/error.h"
#include "store/detail/stored_array.h"

namespace protocom {
namespace {

std::optional<int64_t> class_of_stored(const Database& database, const std::string& name) {
  Statement row = database.prepare("SELECT class FROM names WHERE name = ? AND removed_by IS NULL", name);
  return row.step() ? std::optional(row.number(0)) : std::nullopt;
}

}  // namespace

std::string live_classes(const char* more_columns) {
  return std::string("SELECT c.id, n.name, c.time, d.title, d.association, d.embedding, d.source") + more_columns +
         " FROM classes c JOIN names n ON n.class = c.id AND n.removed_by IS NULL "
         "JOIN descriptions d ON d.class = c.id AND d.removed_by IS NULL WHERE c.removed_by IS NULL";
}

std::optional<int64_t> live_class(const Database& database, const std::string& name) {
  if (const auto as_written = class_of_stored(database, name)) return as_written;
  const std::string clean = clean_name(name);
  return clean == name ? std::nullopt : class_of_stored(database, clean);
}

void check_class_name(const Database& database, const std::string& name) {
  try {
    static_cast<void>(checked_class_name(name));
  } catch (const UsageError&) {
    if (!class_of_stored(database, name)) throw;
  }
}

std::string class_label(const Database& database, const Statement& class_row) {
  return fmt::format("{}: class '{}'", database.path().string(), excerpt(class_row.text(kName)));
}

ClassDescription description_at(const Statement& class_row, const RecognizerSettings& settings,
                                const std::string& label) {
  ClassDescription description;
  const auto attributes = static_cast<int64_t>(settings.attributes.size());
  description.title = class_row.text(kTitle);
  description.association = from_blob(class_row.blob(kAssociation), NumberType::kFloat32, attributes, label);
  if (!is_share(description.association)) fail("{} is damaged: an association outside 0 to 1", label);
  description.embedding = from_blob(class_row.blob(kEmbedding), NumberType::kFloat32, settings.embedding_dim, label);
  description.embedding_source = class_row.text(kSource);
  return description;
}

}  // namespace protocom
