#include "datasets/inspect.h"

#include <algorithm>

#include "base/error.h"
#include "images/for_each_index.h"
#include "images/image.h"
#include "io/files.h"

namespace protocom {
namespace {

/// The result for one image.
struct Finding {
  int64_t width = 0;
  int64_t height = 0;
  std::string hash;    ///< hash_pixels; empty if it is unreadable
  std::string reason;  ///< why it is unreadable; empty if it is not
};

/// Returns options for comparing images at full size; images larger than any screen are reduced to a shorter side of
/// 4096.
DecodeOptions decoding_to_compare() {
  DecodeOptions options;
  options.min_side = 4096;
  return options;
}

Finding find_in_file(const std::filesystem::path& path) {
  Finding finding;
  try {
    const auto [image, size] = decode_image_and_size(read_file(path), decoding_to_compare());
    finding.width = size.width;
    finding.height = size.height;
    finding.hash = hash_pixels(image.rgb.data(), image.height, image.width);
  } catch (const Error& error) {
    finding.reason = error.what();
  }
  return finding;
}

Inspection summarise(const std::vector<Finding>& findings, const ImageOwners& owners) {
  Inspection result;
  for (size_t c = 0; c < owners.class_names.size(); ++c) {
    result.classes.push_back({owners.class_names[c], "", owners.class_split[c], 0, 0});
  }
  std::vector<int64_t> widths;
  std::vector<int64_t> heights;
  for (size_t i = 0; i < findings.size(); ++i) {
    ClassSummary& owner = result.classes[static_cast<size_t>(owners.labels[i])];
    ++owner.images;
    if (findings[i].reason.empty()) {
      widths.push_back(findings[i].width);
      heights.push_back(findings[i].height);
    } else {
      ++owner.unreadable;
      result.unreadable.push_back({owners.ids[i], findings[i].reason});
    }
  }
  result.width = spread_of(std::move(widths));
  result.height = spread_of(std::move(heights));
  std::vector<std::string> hashes;
  for (const Finding& finding : findings) hashes.push_back(finding.hash);
  result.duplicates = find_duplicates(hashes, owners);
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

Inspection inspect_images(const ImageDataset& dataset, Progress& progress) {
  ImageOwners owners{dataset.class_names, dataset.class_split, {}, {}};
  for (const ImageItem& item : dataset.items) {
    owners.ids.push_back(item.id);
    owners.labels.push_back(item.label);
  }
  std::vector<Finding> findings(dataset.items.size());
  images_detail::for_each_index(static_cast<int64_t>(findings.size()), 0, "inspect images", progress, [&](int64_t i) {
    findings[static_cast<size_t>(i)] = find_in_file(dataset.items[static_cast<size_t>(i)].path);
  });
  Inspection result = summarise(findings, owners);
  result.skipped = dataset.skipped;
  result.empty_classes = dataset.empty_classes;
  for (ClassSummary& summary : result.classes) {
    const auto title = dataset.class_title.find(summary.name);
    if (title != dataset.class_title.end()) summary.title = title->second;
  }
  return result;
}

Inspection inspect_images(const PackedImages& images, Progress& progress) {
  const ImageOwners owners{images.class_names, images.class_split, images.image_ids, images.labels};
  const auto* pixels = images.pixels.data<uint8_t>();
  const int64_t side = images.image_size();
  std::vector<Finding> findings(owners.ids.size());
  images_detail::for_each_index(images.size(), 0, "inspect images", progress, [&](int64_t i) {
    findings[static_cast<size_t>(i)] = {side, side, hash_pixels(pixels + i * side * side * 3, side, side), ""};
  });
  Inspection result = summarise(findings, owners);
  const std::string found = hash_content(images);
  if (found != images.content_hash)
    result.damage = fmt::format("the content hash is {}, expected {}", found, images.content_hash);
  return result;
}

}  // namespace protocom
