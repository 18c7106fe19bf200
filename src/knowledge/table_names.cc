#include "knowledge/detail/table_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "knowledge/detail/word_forms.h"
#include "knowledge/names.h"

namespace protocom {
namespace {

/// Limit of pairs: their full matrix is in memory, however few of them a long table names.
constexpr int64_t kMostPairs = int64_t{1} << 26;

}  // namespace

int64_t TableNames::add(const std::string& name) {
  const auto [found, added] = index_.emplace(name, static_cast<int64_t>(names_.size()));
  if (added) names_.push_back(name);
  return found->second;
}

bool TableNames::add_new(const std::string& name) {
  const int64_t before = size();
  return add(name) == before;
}

int64_t AttributeNames::add(const std::string& name) {
  if (const auto known = spellings_.find(name); known != spellings_.end()) return known->second;
  const std::vector<std::string> forms = word_forms(name);
  int64_t index = names_.size();
  for (const std::string& form : forms) {
    if (const auto found = by_form_.find(form); found != by_form_.end()) index = std::min(index, found->second);
  }
  if (index == names_.size()) {
    names_.add(name);
  } else {
    merged_.push_back(fmt::format("'{}' as '{}'", name, names_.list()[static_cast<size_t>(index)]));
  }
  for (const std::string& form : forms) by_form_.emplace(form, index);
  spellings_.emplace(name, index);
  return index;
}

void AttributeNames::log_merged(const std::filesystem::path& path) const {
  constexpr size_t kShown = 4;
  if (!merged_.empty())
    logger().info("{}: attributes that differ only in capitals or number are one: {}", path.string(),
                  first_of(merged_, kShown));
}

void describe_name(AttributeTable& table, const std::string& name, std::string_view words) {
  const std::string lemma = lemma_of_name(words);
  table.lemmas[name] = lemma.empty() ? std::vector<std::string>{} : std::vector<std::string>{lemma};
  if (const std::string title = title_of_name(words); !title.empty() && title != name) table.titles[name] = title;
}

AttributeTable empty_table(const TableNames& classes, const TableNames& attributes, const char* kind,
                           const std::filesystem::path& path) {
  if (classes.size() > kMostPairs / std::max<int64_t>(attributes.size(), 1)) {
    fail("{}: {} classes with {} attributes are more than {} million pairs: leave out what no class of the split needs",
         path.string(), classes.size(), attributes.size(), kMostPairs / 1'000'000);
  }
  AttributeTable table;
  table.classes = classes.list();
  table.attributes = attributes.list();
  table.association = Array::zeros({classes.size(), attributes.size()});
  table.source = {{"kind", kind}, {"file", path.string()}};
  warn_of_same_but_capitals(table.classes, "classes of " + path.string());
  warn_of_same_but_capitals(table.attributes, "attributes of " + path.string());
  for (const auto* names : {&table.classes, &table.attributes}) {
    for (const std::string& name : *names) describe_name(table, name, name);
  }
  return table;
}

}  // namespace protocom
