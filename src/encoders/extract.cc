#include "encoders/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/feature_values.h"
#include "base/log.h"
#include "base/matrix.h"
#include "io/scratch_array.h"

namespace protocom {
namespace {

[[noreturn]] void refuse_output(const BadFeatures& bad, const std::string& image) {
  fail("the backbone's features of {} hold {}: check that it is trained and supports this precision", image,
       bad.reason);
}

void check_output(const Array& features, int64_t first, const std::vector<std::string>& ids) {
  if (const auto bad = find_bad_features(features))
    refuse_output(*bad, fmt::format("image '{}'", ids.at(static_cast<size_t>(first + bad->row))));
}

class Speed {
 public:
  [[nodiscard]] std::string describe(int64_t images) const {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    return fmt::format("{:.0f} images/s", static_cast<double>(images) / std::max(seconds.count(), 1e-9));
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void prepare(Encoder& encoder, const ExtractOptions& options) {
  if (options.batch < 1) fail_usage("features need a batch of at least 1 image, found {}", options.batch);
  encoder.prepare({options.device, options.precision});
}

/// Copies rows to their place among all, [begin, begin + n).
void put_rows(const Array& rows, int64_t begin, Array& all) {
  std::memcpy(all.rows(begin, begin + rows.size(0)).mutable_raw(), rows.raw(), rows.bytes());
}

/// Returns square images as one array, uint8 [n, size, size, 3].
Array pixels_of(const std::vector<Image>& squares, size_t begin, size_t end, int64_t size) {
  Array pixels = Array::uninitialised({static_cast<int64_t>(end - begin), size, size, 3}, NumberType::kUInt8);
  uint8_t* next = pixels.mutable_data<uint8_t>();
  for (size_t i = begin; i < end; ++i) {
    const Image& square = squares[i];
    if (square.height != size || square.width != size)
      fail("an image of {} x {} pixels, the backbone expects {} x {}", square.height, square.width, size, size);
    next = std::copy(square.rgb.begin(), square.rgb.end(), next);
  }
  return pixels;
}

}  // namespace

void freeze_for(Encoder& encoder, const ExtractOptions& options) {
  encoder.prepare({options.device, options.precision});
  encoder.freeze();
}

Array extract_given_images(Encoder& encoder, const GivenImages& images, const ExtractOptions& options,
                           std::mutex& passes, Progress& progress) {
  if (images.empty()) fail("expected at least one image, found none");
  const auto total = static_cast<int64_t>(images.size());
  progress.start("extract", total);
  std::vector<Array> parts;
  for (int64_t i = 0; i < total; i += options.batch) {
    const int64_t end = std::min(i + options.batch, total);
    std::vector<SquareImage> some = square_images({images.begin() + i, images.begin() + end}, encoder.preprocessing());
    const std::lock_guard lock(passes);
    parts.push_back(extract_square_features(encoder, take_images(some), options));
    progress.advance(end, "");
  }
  progress.finish();
  return Array::joined(parts);
}

FeatureSet extract_features(Encoder& encoder, const PackedImages& images, const ExtractOptions& options,
                            Progress& progress) {
  prepare(encoder, options);
  const int64_t count = images.size();
  if (count == 0) fail("expected at least one image, found none");
  FeatureSet result;
  const auto [share_begin, share_end] = options.group->share(count);
  Array own = Array::uninitialised({share_end - share_begin, encoder.dim()});
  progress.start("features", own.size(0));
  const Speed speed;
  for (int64_t first = share_begin; first < share_end; first += options.batch) {
    const int64_t end = std::min(share_end, first + options.batch);
    const Array features = encoder.features(images.pixels.rows(first, end));
    check_output(features, first, images.image_ids);
    put_rows(features, first - share_begin, own);
    progress.advance(end - share_begin, speed.describe((end - share_begin) * options.group->size()));
  }
  progress.finish();
  result.features = options.group->gather_rows(own);
  warn_of_alike(result.features);
  result.labels = images.labels;
  result.class_names = images.class_names;
  result.class_split = images.class_split;
  result.image_ids = images.image_ids;
  return result;
}

FeatureMaps extract_feature_maps(Encoder& encoder, const PackedImages& images, const ExtractOptions& options,
                                 Progress& progress) {
  if (!options.group->is_single())
    fail_usage("feature maps are extracted by one process, not {}", options.group->size());
  prepare(encoder, options);
  const int64_t count = images.size();
  if (count == 0) fail("expected at least one image, found none");
  FeatureMaps result;
  result.image_ids = images.image_ids;
  const std::filesystem::path scratch =
      options.scratch_folder.empty() ? std::filesystem::temp_directory_path() : options.scratch_folder;
  progress.start("feature maps", count);
  const Speed speed;
  for (int64_t first = 0; first < count; first += options.batch) {
    const int64_t end = std::min(count, first + options.batch);
    const Array maps = encoder.maps(images.pixels.rows(first, end));
    check_output(maps, first, images.image_ids);
    if (first == 0) {
      result.maps = scratch_array(scratch, {count, maps.size(1), maps.size(2), maps.size(3)}, NumberType::kFloat16);
    }
    put_rows(maps, first, result.maps);
    progress.advance(end, speed.describe(end));
  }
  progress.finish();
  return result;
}

Array extract_features(Encoder& encoder, const std::vector<Image>& images, const ExtractOptions& options) {
  std::vector<Image> squares;
  for (const Image& image : images) squares.push_back(resize_and_crop(image, encoder.preprocessing()));
  return extract_square_features(encoder, squares, options);
}

Array extract_square_features(Encoder& encoder, const std::vector<Image>& images, const ExtractOptions& options) {
  prepare(encoder, options);
  if (images.empty()) fail("expected at least one image, found none");
  const int64_t size = encoder.preprocessing().image_size;
  std::vector<Array> batches;
  const auto batch = static_cast<size_t>(options.batch);
  for (size_t first = 0; first < images.size(); first += batch)
    batches.push_back(encoder.features(pixels_of(images, first, std::min(images.size(), first + batch), size)));
  Array features = Array::joined(batches);  // [n, d]
  if (const auto bad = find_bad_features(features)) refuse_output(*bad, "an image");
  return features;
}

void warn_of_alike(const Array& features) {
  constexpr int64_t kFewest = 10;
  constexpr double kAlike = 0.999;
  const int64_t n = features.size(0);
  if (n < kFewest) return;
  // The squared length of the sum of unit vectors is the sum of the cosines of all pairs, including each image with
  // itself.
  const double all = unit_rows(matrix_of<float>(features)).cast<double>().colwise().sum().squaredNorm();
  const double cosine = (all - static_cast<double>(n)) / static_cast<double>(n * (n - 1));
  if (cosine < kAlike) return;
  logger().warn(
      "the encoder's features of {} images are nearly equal (mean cosine {:.4f}): check the preprocessing; `protocom "
      "extract --preprocess compare` tries the usual ones",
      n, cosine);
}

}  // namespace protocom
