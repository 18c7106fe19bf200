#include "encoders/extract.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/feature_values.h"
#include "base/log.h"
#include "base/matrix.h"
#include "io/scratch_array.h"
#include "tensors/device.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

/// Pixels of a forward pass on the processor: with more, the maps inside a backbone no longer stay near its cache.
constexpr int64_t kPixelsAPass = int64_t{64} * 64 * 64;

int64_t images_a_pass(const Backbone& backbone, const at::Tensor& pixels, c10::Device device) {
  if (device.type() != c10::kCPU) return pixels.size(0);
  const int64_t fit = std::max<int64_t>(1, kPixelsAPass / (pixels.size(1) * pixels.size(2)));
  return std::min(fit, backbone.most_images_a_pass());
}

/// What `pass` makes of float images [m, 3, size, size], for pixels uint8 [n, size, size, 3]; on the CPU.
template <typename Pass>
at::Tensor in_passes(const Backbone& backbone, const at::Tensor& pixels, c10::Device device, const Pass& pass) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& some : pixels.split(images_a_pass(backbone, pixels, device)))
    parts.push_back(pass(to_float_images(some.to(device))).to(at::kCPU));
  return at::cat(parts);
}

/// pixels uint8 [n, size, size, 3] -> float32 [n, d] on the CPU.
at::Tensor forward_batch(Backbone& backbone, const at::Tensor& pixels, Precision precision, c10::Device device) {
  const PrecisionScope scope(precision, device);
  const at::Tensor features =
      in_passes(backbone, pixels, device, [&](const at::Tensor& images) { return backbone.forward(images); });
  if (features.size(1) != backbone.dim()) {
    fail(
        "the backbone gives {0} features for images of {1}x{1} pixels and {2} for the {3}x{3} it was made for: pack "
        "the images at {3}",
        features.size(1), pixels.size(1), backbone.dim(), backbone.image_size());
  }
  return features;
}

/// pixels uint8 [n, size, size, 3] -> float16 [n, c, h, w] on the CPU.
at::Tensor forward_batch_maps(Backbone& backbone, const at::Tensor& pixels, Precision precision, c10::Device device) {
  const PrecisionScope scope(precision, device);
  return in_passes(backbone, pixels, device,
                   [&](const at::Tensor& images) { return backbone.forward_maps(images).to(at::kHalf); });
}

[[noreturn]] void refuse_output(const BadFeatures& bad, const std::string& image) {
  fail("the backbone gives features of {} that hold {}; is it trained, and in this precision?", image, bad.reason);
}

void check_output(const at::Tensor& features, int64_t first, const std::vector<std::string>& ids) {
  if (const auto bad = find_bad_features(array_of(features)))
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

c10::Device prepare(Backbone& backbone, const ExtractOptions& options) {
  if (options.batch < 1) fail_usage("features need a batch of at least 1 image, found {}", options.batch);
  const c10::Device device = parse_device(options.device);
  resolve_precision(options.precision, device);  // throws before the first image
  backbone.to(device);
  backbone.set_mode(BackboneMode::kUse);
  return device;
}

at::Tensor pixels_of(const Image& square, int64_t size) {
  if (square.height != size || square.width != size)
    fail("an image of {} x {} pixels, the backbone takes {} x {}", square.height, square.width, size, size);
  at::Tensor pixels = at::empty({size, size, 3}, at::kByte);
  std::memcpy(pixels.data_ptr<uint8_t>(), square.rgb.data(), square.rgb.size());
  return pixels;
}

}  // namespace

void freeze_for(Backbone& backbone, const ExtractOptions& options) {
  const c10::Device device = parse_device(options.device);
  if (device.is_cpu() && resolve_precision(options.precision, device) == Precision::kFloat32) backbone.freeze();
}

Array extract_given_images(Backbone& backbone, const GivenImages& images, const ExtractOptions& options,
                           std::mutex& passes, Progress& progress) {
  if (images.empty()) fail("there is no image to extract features of");
  const auto total = static_cast<int64_t>(images.size());
  progress.start("extract", total);
  std::vector<Array> parts;
  for (int64_t i = 0; i < total; i += options.batch) {
    const int64_t end = std::min(i + options.batch, total);
    std::vector<SquareImage> some = square_images({images.begin() + i, images.begin() + end}, backbone.preprocessing());
    const std::lock_guard lock(passes);
    parts.push_back(extract_square_features(backbone, take_images(some), options));
    progress.advance(end, "");
  }
  progress.finish();
  return Array::joined(parts);
}

at::Tensor to_float_images(const at::Tensor& pixels) {
  // A permuted NHWC tensor is an NCHW tensor in channels-last format already: no pixel moves.
  return pixels.permute({0, 3, 1, 2}).to(at::kFloat).mul_(1.0F / 255.0F);  // [n, 3, size, size]
}

FeatureSet extract_features(Backbone& backbone, const PackedImages& images, const ExtractOptions& options,
                            Progress& progress) {
  const c10::Device device = prepare(backbone, options);
  const int64_t count = images.size();
  if (count == 0) fail("there are no images to extract features from");
  FeatureSet result;
  const auto [share_begin, share_end] = options.group->share(count);
  at::Tensor own = at::empty({share_end - share_begin, backbone.dim()}, at::kFloat);
  progress.start("features", own.size(0));
  const Speed speed;
  for (int64_t first = share_begin; first < share_end; first += options.batch) {
    const int64_t end = std::min(share_end, first + options.batch);
    const at::Tensor features =
        forward_batch(backbone, tensor_of(images.pixels.rows(first, end)), options.precision, device);
    check_output(features, first, images.image_ids);
    own.slice(0, first - share_begin, end - share_begin).copy_(features);
    progress.advance(end - share_begin, speed.describe((end - share_begin) * options.group->size()));
  }
  progress.finish();
  result.features = array_of(options.group->gather_rows(own));
  warn_of_alike(result.features);
  result.labels = images.labels;
  result.class_names = images.class_names;
  result.class_split = images.class_split;
  result.image_ids = images.image_ids;
  return result;
}

FeatureMaps extract_feature_maps(Backbone& backbone, const PackedImages& images, const ExtractOptions& options,
                                 Progress& progress) {
  if (!options.group->is_single())
    fail_usage("feature maps are extracted by one process, not {}", options.group->size());
  const c10::Device device = prepare(backbone, options);
  const int64_t count = images.size();
  if (count == 0) fail("there are no images to extract feature maps from");
  FeatureMaps result;
  result.image_ids = images.image_ids;
  const std::filesystem::path scratch =
      options.scratch_folder.empty() ? std::filesystem::temp_directory_path() : options.scratch_folder;
  progress.start("feature maps", count);
  const Speed speed;
  for (int64_t first = 0; first < count; first += options.batch) {
    const int64_t end = std::min(count, first + options.batch);
    const at::Tensor maps =
        forward_batch_maps(backbone, tensor_of(images.pixels.rows(first, end)), options.precision, device);
    check_output(maps, first, images.image_ids);
    if (first == 0) {
      result.maps = scratch_array(scratch, {count, maps.size(1), maps.size(2), maps.size(3)}, NumberType::kFloat16);
    }
    tensor_of(result.maps.rows(first, end)).copy_(maps);
    progress.advance(end, speed.describe(end));
  }
  progress.finish();
  return result;
}

Array extract_features(Backbone& backbone, const std::vector<Image>& images, const ExtractOptions& options) {
  std::vector<Image> squares;
  for (const Image& image : images) squares.push_back(resize_and_crop(image, backbone.preprocessing()));
  return extract_square_features(backbone, squares, options);
}

Array extract_square_features(Backbone& backbone, const std::vector<Image>& images, const ExtractOptions& options) {
  const c10::Device device = prepare(backbone, options);
  if (images.empty()) fail("there are no images to extract features from");
  const int64_t size = backbone.preprocessing().image_size;
  std::vector<at::Tensor> batches;
  const auto batch = static_cast<size_t>(options.batch);
  for (size_t first = 0; first < images.size(); first += batch) {
    std::vector<at::Tensor> pixels;
    for (size_t i = first; i < std::min(images.size(), first + batch); ++i)
      pixels.push_back(pixels_of(images[i], size));
    batches.push_back(forward_batch(backbone, at::stack(pixels), options.precision, device));
  }
  Array features = array_of(at::cat(batches));  // [n, d]
  if (const auto bad = find_bad_features(features)) refuse_output(*bad, "an image");
  return features;
}

void warn_of_alike(const Array& features) {
  constexpr int64_t kFewest = 10;
  constexpr double kAlike = 0.999;
  const int64_t n = features.size(0);
  if (n < kFewest) return;
  // The squared length of the sum of unit vectors is the sum of the cosines of all pairs, each image with itself too.
  const double all = unit_rows(matrix_of<float>(features)).cast<double>().colwise().sum().squaredNorm();
  const double cosine = (all - static_cast<double>(n)) / static_cast<double>(n * (n - 1));
  if (cosine < kAlike) return;
  logger().warn(
      "the encoder's features of {} images are nearly all alike (mean cosine {:.4f}): are the images prepared as it "
      "expects them? `protocom extract --preprocess compare` tries the usual ways",
      n, cosine);
}

}  // namespace protocom
