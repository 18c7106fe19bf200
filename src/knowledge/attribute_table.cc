#include "knowledge/attribute_table.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/enum_words.h"
#include "base/error.h"
#include "base/matrix.h"

namespace protocom {
namespace {

constexpr EnumWord<Vocabulary> kVocabularies[] = {
    {Vocabulary::kBase, "base"}, {Vocabulary::kShared, "shared"}, {Vocabulary::kAll, "all"}};

using Index = std::unordered_map<std::string, int64_t>;

Index index_of(const std::vector<std::string>& names) {
  Index index;
  for (size_t i = 0; i < names.size(); ++i) index.emplace(names[i], static_cast<int64_t>(i));
  return index;
}

std::vector<std::string> classes_of(const ClassSides& sides) {
  std::set<std::string> classes(sides.base.begin(), sides.base.end());
  for (const std::string& name : sides.unseen) {
    if (!classes.insert(name).second)
      fail("duplicate class '{}' in the split: expected each class once, in base, val or novel", name);
  }
  if (classes.empty()) fail("the split names no class");
  return {classes.begin(), classes.end()};
}

/// Returns rows of the table for these classes; zeros for those it does not name.
Array take_rows(const Array& matrix, const Index& index, const std::vector<std::string>& classes) {
  Array rows = Array::zeros({static_cast<int64_t>(classes.size()), matrix.size(1)});
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto found = index.find(classes[i]);
    if (found != index.end())
      mutable_matrix_of<float>(rows).row(static_cast<int64_t>(i)) = matrix_of<float>(matrix).row(found->second);
  }
  return rows;
}

/// Whether any of some classes has a column's attribute.
bool is_used(const Array& rows, int64_t column) { return (matrix_of<float>(rows).col(column).array() != 0).any(); }

/// Returns the columns in the vocabulary.
std::vector<int64_t> kept_columns(const AttributeTable& table, const Index& index, const ClassSides& sides,
                                  Vocabulary vocabulary) {
  const Array base = take_rows(table.association, index, sides.base);
  const Array unseen = take_rows(table.association, index, sides.unseen);
  std::vector<int64_t> kept;
  for (int64_t column = 0; column < base.size(1); ++column) {
    const bool all = vocabulary == Vocabulary::kAll, shared = vocabulary == Vocabulary::kShared;
    if (all || (is_used(base, column) && (!shared || is_used(unseen, column)))) kept.push_back(column);
  }
  return kept;
}

std::vector<std::string> names_at(const std::vector<std::string>& names, const std::vector<int64_t>& kept) {
  std::vector<std::string> result;
  for (const int64_t i : kept) result.push_back(names[static_cast<size_t>(i)]);
  return result;
}

Array columns_at(const Array& matrix, const std::vector<int64_t>& kept) {
  Array result = Array::uninitialised({matrix.size(0), static_cast<int64_t>(kept.size())});
  for (size_t i = 0; i < kept.size(); ++i)
    mutable_matrix_of<float>(result).col(static_cast<int64_t>(i)) = matrix_of<float>(matrix).col(kept[i]);
  return result;
}

void check_overlap(const AttributeTable& table, const std::vector<std::string>& classes,
                   const std::vector<std::string>& missing) {
  if (missing.size() < classes.size()) return;
  fail("{} names none of the {} classes of the split; the split has, for instance, '{}', the source '{}'",
       table.source.value("file", std::string("the knowledge source")), classes.size(), classes.front(),
       table.classes.empty() ? "(nothing)" : table.classes.front());
}

/// Returns the names that are not in `index`.
std::vector<std::string> absent(const std::vector<std::string>& names, const Index& index) {
  std::vector<std::string> result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result),
               [&](const std::string& name) { return index.count(name) == 0; });
  return result;
}

}  // namespace

std::string_view to_string(Vocabulary vocabulary) { return word_of(kVocabularies, vocabulary); }

Vocabulary parse_vocabulary(std::string_view text) { return value_of(kVocabularies, text, "vocabulary"); }

AttributeTable select_classes(const AttributeTable& table, const ClassSides& sides, Vocabulary vocabulary) {
  const Index index = index_of(table.classes);
  AttributeTable selected = table;
  selected.classes = classes_of(sides);
  const std::vector<std::string> missing = absent(selected.classes, index);
  check_overlap(table, selected.classes, missing);
  selected.source["classes_without_source"] = missing;
  selected.source["classes_not_in_split"] = absent(table.classes, index_of(selected.classes));
  const std::vector<int64_t> kept = kept_columns(table, index, sides, vocabulary);
  selected.attributes = names_at(table.attributes, kept);
  selected.association = columns_at(take_rows(table.association, index, selected.classes), kept);
  if (!table.context.empty())
    selected.context_association = take_rows(table.context_association, index, selected.classes);
  return selected;
}

Array restrict_to(const std::vector<std::string>& attributes, const std::vector<std::string>& vocabulary,
                  std::vector<std::string>* unknown) {
  const Index index = index_of(vocabulary);
  Array row = Array::zeros({static_cast<int64_t>(vocabulary.size())});
  for (const std::string& attribute : attributes) {
    const auto found = index.find(attribute);
    if (found != index.end()) {
      row.mutable_data<float>()[found->second] = 1.0F;
    } else if (unknown != nullptr) {
      unknown->push_back(attribute);
    }
  }
  return row;
}

}  // namespace protocom
