#include "encoders/embed.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>

#include "base/cores.h"
#include "base/error.h"
#include "images/image_region.h"

namespace protocom {
namespace {

using Paths = std::vector<std::filesystem::path>;

/// The result of reading a file.
struct ReadImage {
  Image image;
  std::string hash;
  std::string error;  // why it could not be read; empty: it could
};

ReadImage read_one(const std::filesystem::path& path, const Preprocessing& preprocessing) {
  try {
    ReadRegion read = read_region(path, preprocessing);
    return {std::move(read.image), std::move(read.hash), ""};
  } catch (const Error& error) {
    const std::string reason = error.what();
    const bool says_where = reason.find(one_line(path.string())) != std::string::npos;
    return {{}, "", says_where ? reason : path.string() + ": " + reason};
  }
}

/// Reads some files, on as many threads as there are cores.
std::vector<ReadImage> read_all(const Paths& paths, const Preprocessing& preprocessing) {
  std::vector<ReadImage> read(paths.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < paths.size(); i = next++) read[i] = read_one(paths[i], preprocessing);
  };
  std::vector<std::future<void>> others;
  const size_t threads = std::min(paths.size(), static_cast<size_t>(usable_cores()));
  for (size_t i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& other : others) other.get();
  return read;
}

/// Returns the readable and unreadable files, without features. `begin`: index of the first file.
EmbeddedBatch read_batch(const Paths& paths, size_t begin, const Preprocessing& preprocessing) {
  EmbeddedBatch batch;
  std::vector<ReadImage> read = read_all(paths, preprocessing);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (!read[i].error.empty()) {
      batch.unreadable.push_back({paths[i], read[i].error});
      continue;
    }
    batch.images.push_back(std::move(read[i].image));
    batch.hashes.push_back(std::move(read[i].hash));
    batch.numbers.push_back(begin + i);
  }
  return batch;
}

template <typename Value>
void append(std::vector<Value>& to, std::vector<Value>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void embed_batches(Encoder& encoder, const std::vector<std::filesystem::path>& paths, const ExtractOptions& options,
                   const std::function<void(EmbeddedBatch&& batch)>& take, Progress& progress) {
  if (options.batch < 1) fail_usage("features need a batch of at least 1 image, found {}", options.batch);
  const auto total = static_cast<int64_t>(paths.size());
  const Preprocessing preprocessing = encoder.preprocessing();
  const auto read_from = [&](int64_t begin) {
    const Paths some(paths.begin() + begin, paths.begin() + std::min(total, begin + options.batch));
    return std::async(std::launch::async, read_batch, some, static_cast<size_t>(begin), preprocessing);
  };
  const auto take_in = [&take](EmbeddedBatch&& batch) {
    return std::async(std::launch::async, [&take, own = std::move(batch)]() mutable { take(std::move(own)); });
  };
  progress.start("images", total);
  std::future<EmbeddedBatch> next = read_from(0);
  std::future<void> taken;  // of the previous batch
  for (int64_t begin = 0; begin < total; begin += options.batch) {
    EmbeddedBatch batch = next.get();
    const int64_t end = std::min(total, begin + options.batch);
    next = read_from(end);
    batch.features = batch.images.empty() ? Array::zeros({0, encoder.dim()})
                                          : extract_square_features(encoder, batch.images, options);
    if (taken.valid()) taken.get();
    taken = take_in(std::move(batch));
    progress.advance(end, "");
  }
  if (taken.valid()) taken.get();
  progress.finish();
}

EmbeddedFiles embed_files(Encoder& encoder, const std::vector<std::filesystem::path>& paths,
                          const ExtractOptions& options, Progress& progress) {
  EmbeddedFiles all;
  std::vector<Array> features = {Array::zeros({0, encoder.dim()})};
  const auto take = [&](EmbeddedBatch&& batch) {
    append(all.numbers, batch.numbers);
    append(all.hashes, batch.hashes);
    append(all.unreadable, batch.unreadable);
    features.push_back(batch.features);
  };
  embed_batches(encoder, paths, options, take, progress);
  all.features = Array::joined(features);  // [n, d]
  return all;
}

}  // namespace protocom
