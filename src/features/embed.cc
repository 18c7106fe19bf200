#include "protocom/features/embed.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "protocom/core/error.h"
#include "protocom/data/image.h"

namespace protocom {
namespace {

/// Reads what can be read, and notes in `result` what could and what could not.
std::vector<Image> read_batch(const std::filesystem::path* begin, const std::filesystem::path* end, int64_t size,
                              EmbeddedFiles& result) {
  std::vector<Image> images;
  for (const std::filesystem::path* path = begin; path != end; ++path) {
    try {
      images.push_back(read_square_image(*path, size));
      result.paths.push_back(*path);
    } catch (const Error& error) {
      result.unreadable.push_back({*path, error.what()});
    }
  }
  return images;
}

}  // namespace

EmbeddedFiles embed_files(Backbone& backbone, const std::vector<std::filesystem::path>& paths,
                          const ExtractOptions& options, Progress& progress) {
  if (options.batch < 1) fail_usage("features need a batch of at least 1 image, found {}", options.batch);
  EmbeddedFiles result;
  std::vector<at::Tensor> features = {at::zeros({0, backbone.dim()})};
  const auto total = static_cast<int64_t>(paths.size());
  progress.start("images", total);
  for (int64_t begin = 0; begin < total; begin += options.batch) {
    const int64_t end = std::min(total, begin + options.batch);
    const auto images = read_batch(paths.data() + begin, paths.data() + end, backbone.image_size(), result);
    if (!images.empty()) features.push_back(extract_features(backbone, images, options));
    progress.advance(end, "");
  }
  progress.finish();
  result.features = at::cat(features);  // [n, d]
  return result;
}

}  // namespace protocom
