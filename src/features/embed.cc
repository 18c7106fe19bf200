#include "protocom/features/embed.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <future>
#include <iterator>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/data/image.h"

namespace protocom {
namespace {

/// Reads what can be read, and notes what could and what could not; features are still to come.
EmbeddedBatch read_batch(const std::filesystem::path* begin, const std::filesystem::path* end,
                         const Preprocessing& preprocessing) {
  EmbeddedBatch batch;
  for (const std::filesystem::path* path = begin; path != end; ++path) {
    try {
      const std::string bytes = read_file(*path);
      batch.images.push_back(decode_square_image(bytes, preprocessing));
      batch.paths.push_back(*path);
      batch.hashes.push_back(hash_bytes(bytes));
    } catch (const Error& error) {
      const std::string reason = error.what();
      const bool says_where = reason.find(path->string()) != std::string::npos;
      batch.unreadable.push_back({*path, says_where ? reason : path->string() + ": " + reason});
    }
  }
  return batch;
}

template <typename Value>
void append(std::vector<Value>& to, std::vector<Value>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void embed_batches(Backbone& backbone, const std::vector<std::filesystem::path>& paths, const ExtractOptions& options,
                   const std::function<void(EmbeddedBatch&& batch)>& take, Progress& progress) {
  if (options.batch < 1) fail_usage("features need a batch of at least 1 image, found {}", options.batch);
  const auto total = static_cast<int64_t>(paths.size());
  const Preprocessing preprocessing = backbone.preprocessing();
  const auto read_from = [&](int64_t begin) {
    const int64_t end = std::min(total, begin + options.batch);
    return std::async(std::launch::async, read_batch, paths.data() + begin, paths.data() + end, preprocessing);
  };
  progress.start("images", total);
  std::future<EmbeddedBatch> next = read_from(0);
  for (int64_t begin = 0; begin < total; begin += options.batch) {
    EmbeddedBatch batch = next.get();
    const int64_t end = std::min(total, begin + options.batch);
    next = read_from(end);
    batch.features = batch.images.empty() ? at::zeros({0, backbone.dim()})
                                          : extract_square_features(backbone, batch.images, options);
    take(std::move(batch));
    progress.advance(end, "");
  }
  progress.finish();
}

EmbeddedFiles embed_files(Backbone& backbone, const std::vector<std::filesystem::path>& paths,
                          const ExtractOptions& options, Progress& progress) {
  EmbeddedFiles all;
  std::vector<at::Tensor> features = {at::zeros({0, backbone.dim()})};
  const auto take = [&](EmbeddedBatch&& batch) {
    append(all.paths, batch.paths);
    append(all.hashes, batch.hashes);
    append(all.unreadable, batch.unreadable);
    features.push_back(batch.features);
  };
  embed_batches(backbone, paths, options, take, progress);
  all.features = at::cat(features);  // [n, d]
  return all;
}

}  // namespace protocom
