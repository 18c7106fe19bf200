#include "datasets/duplicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/enum_words.h"
#include "io/files.h"

namespace protocom {
namespace {

constexpr EnumWord<DuplicateKind> kDuplicateKinds[] = {{DuplicateKind::kAcrossSplits, "across splits"},
                                                       {DuplicateKind::kAcrossClasses, "across classes"},
                                                       {DuplicateKind::kWithinClass, "within a class"}};

DuplicateKind kind_of(const std::vector<size_t>& group, const ImageOwners& owners) {
  DuplicateKind kind = DuplicateKind::kWithinClass;
  const auto label = [&](size_t i) { return static_cast<size_t>(owners.labels[i]); };
  for (const size_t i : group) {
    if (owners.class_split[label(i)] != owners.class_split[label(group[0])]) return DuplicateKind::kAcrossSplits;
    if (label(i) != label(group[0])) kind = DuplicateKind::kAcrossClasses;
  }
  return kind;
}

}  // namespace

std::string_view to_string(DuplicateKind kind) { return word_of(kDuplicateKinds, kind); }

std::string hash_pixels(const uint8_t* rgb, int64_t height, int64_t width) {
  const std::string_view bytes(reinterpret_cast<const char*>(rgb), static_cast<size_t>(height * width * 3));
  return fmt::format("{}x{}:{}", height, width, hash_bytes(bytes));
}

std::vector<DuplicateGroup> find_duplicates(const std::vector<std::string>& hashes, const ImageOwners& owners) {
  std::unordered_map<std::string_view, std::vector<size_t>> by_hash;
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (!hashes[i].empty()) by_hash[hashes[i]].push_back(i);
  }
  std::vector<const std::vector<size_t>*> groups;
  for (const auto& entry : by_hash) {
    if (entry.second.size() > 1) groups.push_back(&entry.second);
  }
  std::sort(groups.begin(), groups.end(), [](const auto* a, const auto* b) { return a->front() < b->front(); });
  std::vector<DuplicateGroup> duplicates;
  for (const auto* group : groups) {
    DuplicateGroup duplicate{kind_of(*group, owners), {}};
    for (const size_t i : *group) duplicate.ids.push_back(owners.ids[i]);
    duplicates.push_back(std::move(duplicate));
  }
  std::stable_sort(duplicates.begin(), duplicates.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
  return duplicates;
}

}  // namespace protocom
