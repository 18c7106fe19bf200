#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "datasets/detail/mapped_artefact.h"
#include "datasets/packed_images.h"
#include "images/other_media.h"
#include "io/files.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace protocom {
namespace {

using images_detail::array_of;
using images_detail::to_text;
using images_detail::words_of;

constexpr int64_t kLargestShorterSide = 4096;

constexpr images_detail::MappedKind kPack = {"images", "a pack of images", 1};

std::vector<std::string> split_words(const PackedImages& images) {
  std::vector<std::string> words;
  for (const Split split : images.class_split) words.emplace_back(to_string(split));
  return words;
}

void check_consistent(const PackedImages& images, const std::string& where) {
  const Array& pixels = images.pixels;
  if (pixels.dim() != 4 || pixels.size(1) == 0 || pixels.size(1) != pixels.size(2) || pixels.size(3) != 3) {
    fail("{}: pixels have the shape [{}], expected [n, size, size, 3]", where, fmt::join(pixels.shape(), ", "));
  }
  const int64_t shorter = images.shorter_side();
  if (images.resize < 0 || shorter < images.image_size() || shorter > kLargestShorterSide) {
    fail("{}: resize: expected {} to {} pixels for a crop of {}, found {}", where, images.image_size(),
         kLargestShorterSide, images.image_size(), images.resize);
  }
  const int64_t count = pixels.size(0);
  if (static_cast<int64_t>(images.labels.size()) != count || images.size() != count) {
    fail("{}: counts differ: {} images, {} labels and {} image ids", where, count, images.labels.size(), images.size());
  }
  const auto classes = static_cast<int64_t>(images.class_names.size());
  if (static_cast<int64_t>(images.class_split.size()) != classes) {
    fail("{}: counts differ: {} classes and {} splits", where, classes, images.class_split.size());
  }
  if (count == 0) return;
  const auto [low, high] = std::minmax_element(images.labels.begin(), images.labels.end());
  if (*low < 0 || *high >= classes) fail("{}: labels: expected 0..{}, found {}..{}", where, classes - 1, *low, *high);
}

void read_sizes(const ArtefactHeader& header, const std::string& where, PackedImages& images) {
  try {
    images.resize = whole_number_or<int64_t>(header.details, "resize", 0);
    images.squeeze = header.details.value("squeeze", false);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the header is damaged: {}", where, reason_of(error));
  }
}

std::string hash_of(const Array& array) { return hash_bytes({static_cast<const char*>(array.raw()), array.bytes()}); }

/// Returns labels [n] from safetensors.
std::vector<int64_t> labels_of(const Array& array, const std::string& where) {
  if (array.dim() != 1) fail("{}: labels have the shape [{}], expected [n]", where, fmt::join(array.shape(), ", "));
  return {array.data<int64_t>(), array.data<int64_t>() + array.numel()};
}

}  // namespace

std::string hash_content(const PackedImages& images) {
  std::string parts = fmt::format("[{}]\n{}\n{}\n", fmt::join(images.pixels.shape(), ", "), hash_of(images.pixels),
                                  hash_of(Array::of(images.labels)));
  parts += to_text(images.class_names) + to_text(split_words(images)) + to_text(images.image_ids);
  return hash_bytes(parts);
}

void write_pack(const std::filesystem::path& path, const PackedImages& images, const Provenance& provenance) {
  check_consistent(images, path.string());
  ArtefactHeader header = make_header(kPack.kind, kPack.newest_version, provenance);
  header.details = {{"images", images.size()},
                    {"classes", images.class_names.size()},
                    {"image_size", images.image_size()},
                    {"content_hash", images.content_hash}};
  if (images.resize > 0) header.details["resize"] = images.resize;
  if (images.squeeze) header.details["squeeze"] = true;
  const std::map<std::string, std::string> metadata = {{kSafetensorsHeaderKey, to_text(header)},
                                                       {"class_names", to_text(images.class_names)},
                                                       {"class_split", to_text(split_words(images))},
                                                       {"image_ids", to_text(images.image_ids)},
                                                       {"content_hash", images.content_hash}};
  write_safetensors(path, {{"pixels", images.pixels}, {"labels", Array::of(images.labels)}}, metadata);
}

PackedImages read_pack(const std::filesystem::path& path) {
  const std::string where = path.string();
  if (lowercase(path.extension().string()) != ".safetensors") refuse_other_media(path);  // as a pack may be called
  const Safetensors file = read_safetensors(path);
  const ArtefactHeader header = images_detail::header_of(file, kPack, where);
  PackedImages images;
  read_sizes(header, where, images);
  images.class_names = words_of(file, "class_names", where);
  reading(path, [&] {
    for (const std::string& word : words_of(file, "class_split", where))
      images.class_split.push_back(parse_split(word));
  });
  images.image_ids = words_of(file, "image_ids", where);
  images.content_hash = file.metadata.count("content_hash") > 0 ? file.metadata.at("content_hash") : "";
  images.pixels = array_of(file, "pixels", NumberType::kUInt8, where);
  images.labels = labels_of(array_of(file, "labels", NumberType::kInt64, where), where);
  check_consistent(images, where);
  return images;
}

bool is_pack(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return false;
  try {
    return read_any_header(path).kind == kPack.kind;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace protocom
