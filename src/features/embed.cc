#include "protocom/features/embed.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/data/image.h"

namespace protocom {
namespace {

/// Reads what can be read, and notes in `result` what could and what could not.
std::vector<Image> read_batch(const std::filesystem::path* begin, const std::filesystem::path* end,
                              const Preprocessing& preprocessing, EmbeddedFiles& result) {
  std::vector<Image> images;
  for (const std::filesystem::path* path = begin; path != end; ++path) {
    try {
      const std::string bytes = read_image_bytes(*path);
      images.push_back(decode_square_image(bytes, preprocessing));
      result.paths.push_back(*path);
      result.hashes.push_back(hash_bytes(bytes));
    } catch (const Error& error) {
      const std::string reason = error.what();
      const bool says_where = reason.find(path->string()) != std::string::npos;
      result.unreadable.push_back({*path, says_where ? reason : path->string() + ": " + reason});
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
    const auto images = read_batch(paths.data() + begin, paths.data() + end, backbone.preprocessing(), result);
    if (!images.empty()) features.push_back(extract_features(backbone, images, options));
    progress.advance(end, "");
  }
  progress.finish();
  result.features = at::cat(features);  // [n, d]
  return result;
}

}  // namespace protocom
