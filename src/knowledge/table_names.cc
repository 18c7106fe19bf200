#include "knowledge/table_names.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "protocom/core/clean_name.h"
#include "protocom/core/error.h"
#include "protocom/knowledge/names.h"

namespace protocom {
namespace {

/// The matrix of all pairs is held in memory, however few of them a long table names.
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
  table.association = at::zeros({classes.size(), attributes.size()});
  table.source = {{"kind", kind}, {"file", path.string()}};
  warn_of_same_but_capitals(table.classes, "classes of " + path.string());
  warn_of_same_but_capitals(table.attributes, "attributes of " + path.string());
  for (const auto* names : {&table.classes, &table.attributes}) {
    for (const std::string& name : *names) describe_name(table, name, name);
  }
  return table;
}

}  // namespace protocom
