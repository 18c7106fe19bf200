#include "datasets/packed_images.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/duplicates.h"
#include "images/for_each_index.h"
#include "io/files.h"
#include "io/scratch_array.h"

namespace protocom {
namespace {

constexpr int64_t kLargestSide = 4096;

Array make_pixels(int64_t count, const PackOptions& options) {
  const Shape shape = {count, options.image_size, options.image_size, 3};
  return options.scratch_folder.empty() ? Array::uninitialised(shape, NumberType::kUInt8)
                                        : scratch_array(options.scratch_folder, shape, NumberType::kUInt8);
}

/// Images that could not be read and are skipped.
class Unreadable {
 public:
  explicit Unreadable(int64_t count) : flags_(static_cast<size_t>(count), 0) {}

  void add(int64_t index, const std::string& reason) {
    const std::lock_guard<std::mutex> lock(mutex_);
    flags_[static_cast<size_t>(index)] = 1;
    ++count_;
    logger().warn("left out: {}", reason);
  }
  [[nodiscard]] bool contains(int64_t index) const { return flags_[static_cast<size_t>(index)] != 0; }
  [[nodiscard]] size_t count() const { return count_; }

 private:
  std::mutex mutex_;
  std::vector<char> flags_;
  size_t count_ = 0;
};

/// Closes the gaps of unreadable images in place, so that the pixels are never in memory twice.
void keep_readable(const ImageDataset& dataset, const Unreadable& unreadable, PackedImages& images) {
  const int64_t bytes = images.pixels.row(0).numel();
  auto* pixels = images.pixels.mutable_data<uint8_t>();
  std::vector<int64_t>& labels = images.labels;
  for (int64_t i = 0; i < static_cast<int64_t>(dataset.items.size()); ++i) {
    if (unreadable.contains(i)) continue;
    const auto kept = static_cast<int64_t>(labels.size());
    if (kept != i) std::memmove(pixels + kept * bytes, pixels + i * bytes, static_cast<size_t>(bytes));
    labels.push_back(dataset.items[static_cast<size_t>(i)].label);
    images.image_ids.push_back(dataset.items[static_cast<size_t>(i)].id);
  }
  images.pixels = images.pixels.rows(0, static_cast<int64_t>(labels.size()));
}

/// Removes classes without readable images. Returns their names.
std::vector<std::string> drop_empty_classes(PackedImages& images) {
  std::vector<char> used(images.class_names.size(), 0);
  for (const int64_t label : images.labels) used[static_cast<size_t>(label)] = 1;
  std::vector<std::string> dropped;
  std::vector<int64_t> new_label;
  size_t kept = 0;
  for (size_t c = 0; c < used.size(); ++c) {
    new_label.push_back(static_cast<int64_t>(kept));
    if (used[c] == 0) {
      dropped.push_back(images.class_names[c]);
      continue;
    }
    std::swap(images.class_names[kept], images.class_names[c]);
    images.class_split[kept++] = images.class_split[c];
  }
  images.class_names.resize(kept);
  images.class_split.resize(kept);
  for (int64_t& label : images.labels) label = new_label[static_cast<size_t>(label)];
  return dropped;
}

/// Warns of leaks, by the decoded images' hashes.
void warn_of_leaks(const ImageDataset& dataset, const std::vector<std::string>& hashes) {
  ImageOwners owners{dataset.class_names, dataset.class_split, {}, {}};
  for (const ImageItem& item : dataset.items) {
    owners.ids.push_back(item.id);
    owners.labels.push_back(item.label);
  }
  const std::vector<DuplicateGroup> duplicates = find_duplicates(hashes, owners);
  const auto leaks = std::count_if(duplicates.begin(), duplicates.end(), [](const DuplicateGroup& group) {
    return group.kind == DuplicateKind::kAcrossSplits;
  });
  if (leaks == 0) return;
  logger().warn(
      "{} {} also in a class of another split ({}), which inflates accuracy; protocom inspect of the pack lists them",
      leaks, leaks == 1 ? "image is" : "images are", first_of(duplicates.front().ids, 4));
}

/// Leaves out unreadable images, and logs it.
void leave_out(const ImageDataset& dataset, const Unreadable& unreadable, PackedImages& images) {
  if (unreadable.count() == dataset.items.size())
    fail("none of the {} images can be read; the first: {}", dataset.items.size(), dataset.items.front().path.string());
  keep_readable(dataset, unreadable, images);
  if (unreadable.count() == 0) return;
  logger().warn("ignoring {} of {} images, which cannot be read (--strict stops at the first)", unreadable.count(),
                dataset.items.size());
  const std::vector<std::string> dropped = drop_empty_classes(images);
  if (!dropped.empty())
    logger().warn("ignoring {} of {} classes without a readable image: {}", dropped.size(), dataset.class_names.size(),
                  fmt::join(dropped, ", "));
}

}  // namespace

Image PackedImages::image(int64_t row) const {
  const int64_t side = image_size();
  const uint8_t* first = pixels.data<uint8_t>() + row * side * side * 3;
  return {side, side, {first, first + side * side * 3}};
}

PackedImages pack_images(const ImageDataset& dataset, const PackOptions& options, Progress& progress) {
  if (options.image_size < 1 || options.image_size > kLargestSide) {
    fail_usage("image size out of range: expected 1 to {} pixels, found {}", kLargestSide, options.image_size);
  }
  if (options.resize != 0 && (options.resize < options.image_size || options.resize > kLargestSide)) {
    fail_usage("resize: expected {} to {} pixels for a crop of {}, found {}", options.image_size, kLargestSide,
               options.image_size, options.resize);
  }
  if (dataset.items.empty()) fail("expected at least one image, found none");
  const auto count = static_cast<int64_t>(dataset.items.size());
  PackedImages images;
  images.class_names = dataset.class_names;
  images.class_split = dataset.class_split;
  images.resize = options.resize;
  images.squeeze = options.squeeze;
  images.pixels = make_pixels(count, options);  // [n, size, size, 3]
  const int64_t bytes = images.pixels.row(0).numel();
  auto* pixels = images.pixels.mutable_data<uint8_t>();
  Unreadable unreadable(count);
  std::vector<std::string> hashes(dataset.items.size());
  const Preprocessing sizes{options.image_size, options.resize, {}, {}, options.resampling, options.squeeze};
  images_detail::for_each_index(count, options.threads, "decode images", progress, [&](int64_t i) {
    try {
      const Image image = read_square_image(dataset.items[static_cast<size_t>(i)].path, sizes);
      std::memcpy(pixels + i * bytes, image.rgb.data(), static_cast<size_t>(bytes));
      hashes[static_cast<size_t>(i)] = hash_pixels(image.rgb.data(), image.height, image.width);
    } catch (const Error& error) {
      const std::string& row = dataset.items[static_cast<size_t>(i)].row;
      const std::string reason = row.empty() ? error.what() : fmt::format("{}: {}", row, error.what());
      if (options.strict) fail("{}; without --strict such images are ignored", reason);
      unreadable.add(i, reason);
    }
  });
  warn_of_leaks(dataset, hashes);
  leave_out(dataset, unreadable, images);
  images.content_hash = hash_content(images);
  return images;
}

}  // namespace protocom
