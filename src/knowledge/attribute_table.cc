#include "knowledge/attribute_table.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/enum_words.h"
#include "base/error.h"

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
      fail("class '{}' is a base class and a val or novel class, or is twice in the split", name);
  }
  if (classes.empty()) fail("the split names no class");
  return {classes.begin(), classes.end()};
}

/// Rows of the table for these classes; zeros for those it does not name.
at::Tensor take_rows(const at::Tensor& matrix, const Index& index, const std::vector<std::string>& classes) {
  at::Tensor rows = at::zeros({static_cast<int64_t>(classes.size()), matrix.size(1)}, matrix.options());
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto found = index.find(classes[i]);
    if (found != index.end()) rows[static_cast<int64_t>(i)] = matrix[found->second];
  }
  return rows;
}

/// Columns with a non-zero weight in any of these classes. bool [a]
at::Tensor used_by(const AttributeTable& table, const Index& index, const std::vector<std::string>& classes) {
  return take_rows(table.association, index, classes).ne(0).any(0);
}

at::Tensor kept_columns(const AttributeTable& table, const Index& index, const ClassSides& sides,
                        Vocabulary vocabulary) {
  if (vocabulary == Vocabulary::kAll) return at::ones({table.association.size(1)}, at::kBool);
  const at::Tensor base = used_by(table, index, sides.base);
  return vocabulary == Vocabulary::kBase ? base : base.logical_and(used_by(table, index, sides.unseen));
}

std::vector<std::string> names_at(const std::vector<std::string>& names, const at::Tensor& kept) {
  std::vector<std::string> result;
  for (size_t i = 0; i < names.size(); ++i) {
    if (kept[static_cast<int64_t>(i)].item<bool>()) result.push_back(names[i]);
  }
  return result;
}

void check_overlap(const AttributeTable& table, const std::vector<std::string>& classes,
                   const std::vector<std::string>& missing) {
  if (missing.size() < classes.size()) return;
  fail("{} names none of the {} classes of the split; the split has, for instance, '{}', the source '{}'",
       table.source.value("file", std::string("the knowledge source")), classes.size(), classes.front(),
       table.classes.empty() ? "(nothing)" : table.classes.front());
}

/// Names of `names` that are not in `index`.
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
  const at::Tensor kept = kept_columns(table, index, sides, vocabulary);  // [a]
  selected.attributes = names_at(table.attributes, kept);
  selected.association =
      take_rows(table.association, index, selected.classes).index_select(1, kept.nonzero().squeeze(1));
  if (!table.context.empty())
    selected.context_association = take_rows(table.context_association, index, selected.classes);
  return selected;
}

at::Tensor restrict_to(const std::vector<std::string>& attributes, const std::vector<std::string>& vocabulary,
                       std::vector<std::string>* unknown) {
  const Index index = index_of(vocabulary);
  at::Tensor row = at::zeros({static_cast<int64_t>(vocabulary.size())});
  for (const std::string& attribute : attributes) {
    const auto found = index.find(attribute);
    if (found != index.end()) {
      row[found->second] = 1.0F;
    } else if (unknown != nullptr) {
      unknown->push_back(attribute);
    }
  }
  return row;
}

}  // namespace protocom
