#pragma once
#include <ATen/core/Tensor.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "jobs/process_group.h"
#include "trainers/detail/augment_batch.h"
#include "training/augment.h"

namespace protocom {

/// What a batch carries to the device that trains.
enum class BatchContent {
  kAugmented,  ///< pixels, augmented
  kRaw,        ///< original pixels, and the draws that augment_batch() needs
  kDraws       ///< draws and row numbers alone: the images are on the device already
};

/// One training batch.
struct Batch {
  at::Tensor pixels;     ///< uint8 [b, size, size, 3]; undefined with kDraws
  at::Tensor rows;       ///< int64 [b] into `pixels`, or with kDraws into the rows of the loader
  AugmentDraws draws;    ///< not with kAugmented
  at::Tensor labels;     ///< int64 [b]
  at::Tensor rotations;  ///< int64 [b], quarter turns; zeros without rotation
};

enum class Rotate { kNo, kYes };

/// Sources and settings of a loader.
struct BatchLoaderOptions {
  int64_t batch = 128;
  AugmentOptions augment;
  Rotate rotate = Rotate::kNo;
  BatchContent content = BatchContent::kAugmented;
  bool pinned = false;  ///< pixels in page-locked memory, which a GPU copies from while it computes
  uint64_t seed = 0;
  int workers = 1;
  /// Each process prepares its own share of every batch; the shares together are the batch of a single process.
  const ProcessGroup* group = &ProcessGroup::single();
};

/// Shuffled, augmented batches of one epoch, prepared ahead by worker threads. The content of a batch depends on (seed,
/// epoch, position) only, not on the number of workers. The last images that do not fill a batch are dropped, as batch
/// norm needs whole batches.
class BatchLoader {
 public:
  /// `pixels` uint8 [n, size, size, 3]; `rows` int64 are indices into them, with `labels` [rows] in parallel.
  BatchLoader(at::Tensor pixels, std::vector<int64_t> rows, std::vector<int64_t> labels,
              const BatchLoaderOptions& options);
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  [[nodiscard]] int64_t batches() const { return batches_; }
  /// Returns the number of images of a whole batch, over all processes.
  [[nodiscard]] int64_t batch_size() const { return batch_; }

  /// Starts an epoch at its batch `first`; the rest of the previous one is dropped.
  void start(int64_t epoch, int64_t first = 0);
  /// Returns the next batch in order; none after the last. Rethrows what a worker threw.
  std::optional<Batch> next();

 private:
  void work(int64_t epoch);
  [[nodiscard]] Batch make(int64_t index, const Rng& epoch_rng) const;
  [[nodiscard]] Image image_of(int64_t entry) const;
  void stop();

  at::Tensor pixels_;
  std::vector<int64_t> rows_, labels_;
  BatchLoaderOptions options_;
  int64_t batch_, batches_;
  std::vector<int64_t> order_;

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, Batch> ready_;
  std::exception_ptr failure_;
  int64_t taken_ = 0, claimed_ = 0;
  bool stopping_ = false;
};

}  // namespace protocom
