#include "protocom/data/inspect.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <unordered_map>

#include "parallel.h"
#include "protocom/core/enum_words.h"
#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/data/image.h"

namespace protocom {
namespace {

constexpr EnumWord<DuplicateKind> kDuplicateKinds[] = {{DuplicateKind::kAcrossSplits, "across splits"},
                                                       {DuplicateKind::kAcrossClasses, "across classes"},
                                                       {DuplicateKind::kWithinClass, "within a class"}};

/// What one image showed.
struct Finding {
  int64_t width = 0;
  int64_t height = 0;
  std::string hash;    ///< of the pixels and their shape
  std::string reason;  ///< why it is unreadable; empty when it is not
};

std::string hash_pixels(const uint8_t* rgb, int64_t height, int64_t width) {
  const std::string_view bytes(reinterpret_cast<const char*>(rgb), static_cast<size_t>(height * width * 3));
  return fmt::format("{}x{}:{}", height, width, hash_bytes(bytes));
}

Finding find_in_file(const std::filesystem::path& path) {
  Finding finding;
  try {
    const Image image = decode_image(read_file(path));
    finding.width = image.width;
    finding.height = image.height;
    finding.hash = hash_pixels(image.rgb.data(), image.height, image.width);
  } catch (const Error& error) {
    finding.reason = error.what();
  }
  return finding;
}

/// A dataset or a pack, as far as the summary needs it.
struct Source {
  const std::vector<std::string>& class_names;
  const std::vector<Split>& class_split;
  std::vector<std::string> ids;
  std::vector<int64_t> labels;
};

DuplicateKind kind_of(const std::vector<size_t>& group, const Source& source) {
  DuplicateKind kind = DuplicateKind::kWithinClass;
  const auto label = [&](size_t i) { return static_cast<size_t>(source.labels[i]); };
  for (const size_t i : group) {
    if (source.class_split[label(i)] != source.class_split[label(group[0])]) return DuplicateKind::kAcrossSplits;
    if (label(i) != label(group[0])) kind = DuplicateKind::kAcrossClasses;
  }
  return kind;
}

std::vector<DuplicateGroup> find_duplicates(const std::vector<Finding>& findings, const Source& source) {
  std::unordered_map<std::string_view, std::vector<size_t>> by_hash;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].reason.empty()) by_hash[findings[i].hash].push_back(i);
  }
  std::vector<const std::vector<size_t>*> groups;
  for (const auto& entry : by_hash) {
    if (entry.second.size() > 1) groups.push_back(&entry.second);
  }
  std::sort(groups.begin(), groups.end(), [](const auto* a, const auto* b) { return a->front() < b->front(); });
  std::vector<DuplicateGroup> duplicates;
  for (const auto* group : groups) {
    DuplicateGroup duplicate{kind_of(*group, source), {}};
    for (const size_t i : *group) duplicate.ids.push_back(source.ids[i]);
    duplicates.push_back(std::move(duplicate));
  }
  std::stable_sort(duplicates.begin(), duplicates.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
  return duplicates;
}

Inspection summarise(const std::vector<Finding>& findings, const Source& source) {
  Inspection result;
  for (size_t c = 0; c < source.class_names.size(); ++c) {
    result.classes.push_back({source.class_names[c], "", source.class_split[c], 0, 0});
  }
  std::vector<int64_t> widths;
  std::vector<int64_t> heights;
  for (size_t i = 0; i < findings.size(); ++i) {
    ClassSummary& owner = result.classes[static_cast<size_t>(source.labels[i])];
    ++owner.images;
    if (findings[i].reason.empty()) {
      widths.push_back(findings[i].width);
      heights.push_back(findings[i].height);
    } else {
      ++owner.unreadable;
      result.unreadable.push_back({source.ids[i], findings[i].reason});
    }
  }
  result.width = spread_of(std::move(widths));
  result.height = spread_of(std::move(heights));
  result.duplicates = find_duplicates(findings, source);
  return result;
}

nlohmann::json spread_json(const Spread& spread) {
  return {{"min", spread.min}, {"median", spread.median}, {"max", spread.max}};
}

}  // namespace

Spread spread_of(std::vector<int64_t> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values.front(), values[(values.size() - 1) / 2], values.back()};
}

std::string_view to_string(DuplicateKind kind) { return word_of(kDuplicateKinds, kind); }

int64_t Inspection::images() const {
  int64_t total = 0;
  for (const ClassSummary& summary : classes) total += summary.images;
  return total;
}

int64_t Inspection::duplicates_of(DuplicateKind kind) const {
  return std::count_if(duplicates.begin(), duplicates.end(),
                       [&](const DuplicateGroup& group) { return group.kind == kind; });
}

std::vector<int64_t> Inspection::counts_of(Split split) const {
  std::vector<int64_t> counts;
  for (const ClassSummary& summary : classes) {
    if (summary.split == split) counts.push_back(summary.images);
  }
  return counts;
}

bool Inspection::is_clean() const {
  return unreadable.empty() && damage.empty() && duplicates_of(DuplicateKind::kAcrossSplits) == 0;
}

nlohmann::json Inspection::to_json() const {
  using nlohmann::json;
  json result = {{"images", images()},
                 {"width", spread_json(width)},
                 {"height", spread_json(height)},
                 {"clean", is_clean()},
                 {"damage", damage},
                 {"skipped_files", skipped.counts},
                 {"empty_classes", empty_classes},
                 {"classes", json::array()},
                 {"unreadable", json::array()},
                 {"duplicates", json::array()}};
  for (const ClassSummary& c : classes) {
    result["classes"].push_back({{"name", c.name},
                                 {"title", c.title},
                                 {"split", to_string(c.split)},
                                 {"images", c.images},
                                 {"unreadable", c.unreadable}});
  }
  for (const ImageFault& fault : unreadable)
    result["unreadable"].push_back({{"image", fault.id}, {"reason", fault.reason}});
  for (const DuplicateGroup& group : duplicates) {
    result["duplicates"].push_back({{"kind", to_string(group.kind)}, {"images", group.ids}});
  }
  return result;
}

Inspection inspect_images(const ImageDataset& dataset, const InspectOptions& options, Progress& progress) {
  Source source{dataset.class_names, dataset.class_split, {}, {}};
  for (const ImageItem& item : dataset.items) {
    source.ids.push_back(item.id);
    source.labels.push_back(item.label);
  }
  std::vector<Finding> findings(dataset.items.size());
  data_detail::for_each_index(
      static_cast<int64_t>(findings.size()), options.threads, "inspect images", progress,
      [&](int64_t i) { findings[static_cast<size_t>(i)] = find_in_file(dataset.items[static_cast<size_t>(i)].path); });
  Inspection result = summarise(findings, source);
  result.skipped = dataset.skipped;
  result.empty_classes = dataset.empty_classes;
  for (ClassSummary& summary : result.classes) {
    const auto title = dataset.class_title.find(summary.name);
    if (title != dataset.class_title.end()) summary.title = title->second;
  }
  return result;
}

Inspection inspect_images(const PackedImages& images, const InspectOptions& options, Progress& progress) {
  const auto* labels = images.labels.data_ptr<int64_t>();
  const Source source{images.class_names, images.class_split, images.image_ids, {labels, labels + images.size()}};
  const auto* pixels = static_cast<const uint8_t*>(images.pixels.data_ptr());
  const int64_t side = images.image_size();
  std::vector<Finding> findings(source.ids.size());
  data_detail::for_each_index(images.size(), options.threads, "inspect images", progress, [&](int64_t i) {
    findings[static_cast<size_t>(i)] = {side, side, hash_pixels(pixels + i * side * side * 3, side, side), ""};
  });
  Inspection result = summarise(findings, source);
  const std::string found = hash_content(images);
  if (found != images.content_hash)
    result.damage = fmt::format("the content hash is {}, the file says {}", found, images.content_hash);
  return result;
}

}  // namespace protocom
