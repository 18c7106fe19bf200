#include "train/batch_loader.h"

#include <torch/torch.h>

#include <algorithm>
#include <cstring>

namespace protocom {
namespace {

constexpr int64_t kAheadPerWorker = 3;  // batches

}  // namespace

BatchLoader::BatchLoader(at::Tensor pixels, std::vector<int64_t> rows, std::vector<int64_t> labels,
                         const BatchLoaderOptions& options)
    : pixels_(std::move(pixels)),
      rows_(std::move(rows)),
      labels_(std::move(labels)),
      options_(options),
      batch_(std::min(options.batch, static_cast<int64_t>(rows_.size()))),
      batches_(static_cast<int64_t>(rows_.size()) / batch_) {}

BatchLoader::~BatchLoader() { stop(); }

void BatchLoader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

void BatchLoader::start(int64_t epoch, int64_t first) {
  stop();
  const auto count = static_cast<int64_t>(rows_.size());
  order_ = Rng(options_.seed).fork(static_cast<uint64_t>(epoch)).sample(count, count);
  ready_.clear();
  failure_ = nullptr;
  taken_ = claimed_ = first;
  stopping_ = false;
  for (int i = 0; i < std::max(1, options_.workers); ++i) workers_.emplace_back([this, epoch] { work(epoch); });
}

void BatchLoader::work(int64_t epoch) {
  const Rng epoch_rng = Rng(options_.seed).fork(static_cast<uint64_t>(epoch));
  const int64_t ahead = kAheadPerWorker * std::max(1, options_.workers);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || claimed_ >= batches_ || claimed_ < taken_ + ahead; });
    if (stopping_ || claimed_ >= batches_) return;
    const int64_t index = claimed_++;
    lock.unlock();
    Batch batch;
    std::exception_ptr failure;
    try {
      batch = make(index, epoch_rng);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    ready_[index] = std::move(batch);
    if (failure) failure_ = failure;
    changed_.notify_all();
  }
}

std::optional<Batch> BatchLoader::next() {
  std::unique_lock lock(mutex_);
  if (taken_ >= batches_) return std::nullopt;
  changed_.wait(lock, [&] { return failure_ || ready_.count(taken_) > 0; });
  if (failure_) std::rethrow_exception(failure_);
  auto node = ready_.extract(taken_++);
  changed_.notify_all();
  return std::move(node.mapped());
}

Batch BatchLoader::make(int64_t index, const Rng& epoch_rng) const {
  const int64_t size = pixels_.size(1);
  Batch batch;
  const auto [first, end] = options_.group->share(batch_);
  batch.pixels = at::empty({end - first, size, size, 3}, at::kByte);
  batch.labels = at::empty({end - first}, at::kLong);
  batch.rotations = at::zeros({end - first}, at::kLong);
  for (int64_t slot = 0; slot < end - first; ++slot) {
    const int64_t position = index * batch_ + first + slot;
    fill(batch, slot, order_[static_cast<size_t>(position)], epoch_rng.fork(static_cast<uint64_t>(position)));
  }
  return batch;
}

void BatchLoader::fill(Batch& batch, int64_t slot, int64_t entry, Rng rng) const {
  const int64_t size = pixels_.size(1);
  const int64_t bytes = size * size * 3;
  const uint8_t* source = pixels_.data_ptr<uint8_t>() + rows_[static_cast<size_t>(entry)] * bytes;
  Image image = augment(Image{size, size, {source, source + bytes}}, options_.augment, rng);
  if (options_.rotate == Rotate::kYes) {
    const int64_t turns = rng.below(4);
    image = rotate_quarters(image, static_cast<int>(turns));
    batch.rotations.data_ptr<int64_t>()[slot] = turns;
  }
  std::memcpy(batch.pixels.data_ptr<uint8_t>() + slot * bytes, image.rgb.data(), image.rgb.size());
  batch.labels.data_ptr<int64_t>()[slot] = labels_[static_cast<size_t>(entry)];
}

}  // namespace protocom
