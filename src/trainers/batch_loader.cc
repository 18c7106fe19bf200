#include "trainers/detail/batch_loader.h"

#include <torch/torch.h>

#include <algorithm>

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
    // Workers claim batches in order and make them in parallel; next() hands them out in that order.
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
  const auto [first, end] = options_.group->share(batch_);
  const int64_t count = end - first;
  std::vector<int64_t> entries, labels, turns;
  std::vector<AugmentDraw> draws;
  for (int64_t position = index * batch_ + first; position < index * batch_ + end; ++position) {
    // Depends on the position in the epoch, not on worker or process: any number of them makes the same batches.
    Rng rng = epoch_rng.fork(static_cast<uint64_t>(position));
    entries.push_back(order_[static_cast<size_t>(position)]);
    labels.push_back(labels_[static_cast<size_t>(entries.back())]);
    draws.push_back(draw_augmentation(options_.augment, size, rng));
    turns.push_back(options_.rotate == Rotate::kYes ? rng.below(4) : 0);
  }
  Batch batch;
  batch.labels = at::tensor(labels, at::kLong);
  batch.rotations = at::tensor(turns, at::kLong);
  if (options_.content != BatchContent::kAugmented) batch.draws = stack_draws(draws, turns);
  if (options_.content == BatchContent::kDraws) {
    batch.rows = at::tensor(entries, at::kLong);
    return batch;
  }
  batch.rows = at::arange(count, at::kLong);
  batch.pixels = at::empty({count, size, size, 3}, at::TensorOptions(at::kByte).pinned_memory(options_.pinned));
  auto* place = batch.pixels.data_ptr<uint8_t>();
  for (size_t i = 0; i < entries.size(); ++i) {
    Image image = image_of(entries[i]);
    if (options_.content == BatchContent::kAugmented) {
      image = augment(image, draws[i]);
      if (turns[i] != 0) image = rotate_quarters(image, static_cast<int>(turns[i]));
    }
    place = std::copy(image.rgb.begin(), image.rgb.end(), place);
  }
  return batch;
}

Image BatchLoader::image_of(int64_t entry) const {
  const int64_t size = pixels_.size(1);
  const int64_t bytes = size * size * 3;
  const uint8_t* source = pixels_.data_ptr<uint8_t>() + rows_[static_cast<size_t>(entry)] * bytes;
  return Image{size, size, {source, source + bytes}};
}

}  // namespace protocom
