#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "knowledge/attribute_table.h"

namespace protocom {

/// The names of a table's classes or attributes, in the order of their first mention.
class TableNames {
 public:
  /// Returns the index of `name`, which is added if it is new.
  int64_t add(const std::string& name);
  /// Adds `name`; returns whether it was new.
  bool add_new(const std::string& name);
  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(names_.size()); }
  [[nodiscard]] const std::vector<std::string>& list() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int64_t> index_;
};

/// The attributes of a table typed by people: "Hooked Bill", "hooked bill" and "hooked bills" are one, with the
/// spelling of its first mention.
class AttributeNames {
 public:
  /// Returns the index of the attribute `name`, which is added if it is new.
  int64_t add(const std::string& name);
  [[nodiscard]] const TableNames& names() const { return names_; }
  /// Logs which spellings were merged.
  void log_merged(const std::filesystem::path& path) const;

 private:
  TableNames names_;
  std::unordered_map<std::string, int64_t> by_form_;
  std::vector<std::string> merged_;  // "Hooked Bill = hooked bill"
  std::unordered_map<std::string, int64_t> spellings_;
};

/// Sets the lemma and the title of the class or attribute `name`, whose words are `words`.
void describe_name(AttributeTable& table, const std::string& name, std::string_view words);

/// Returns a table [classes, attributes] of zeros with lemmas and titles derived from the names; `kind` and `path`
/// become its source. Throws Error if all pairs together would take too much memory; warns of names that differ only in
/// case.
AttributeTable empty_table(const TableNames& classes, const TableNames& attributes, const char* kind,
                           const std::filesystem::path& path);

}  // namespace protocom
