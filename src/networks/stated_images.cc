#include "networks/detail/stated_images.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "networks/backbone.h"

namespace protocom {

namespace {

/// Once per process of one and the same: a recognizer holds a copy of its backbone.
void warn_of_other(const Preprocessing& stated, const Preprocessing& asked, const std::string& where) {
  static std::mutex mutex;
  static std::set<std::string> warned;
  const std::string words = fmt::format("'{}'; '{}' is used, as asked for", describe(stated), describe(asked));
  const std::lock_guard lock(mutex);
  if (warned.insert(words).second) logger().warn("{} states {}", where, words);
}

}  // namespace

void check_image_size(int64_t image_size) {
  if (image_size < 1 || image_size > kLargestImage)
    fail_usage("images of {0}x{0} pixels for a backbone: expected 1 to {1}", image_size, kLargestImage);
}

Preprocessing choose_preprocessing(const Preprocessing& asked, const Preprocessing& stated, int64_t otherwise,
                                   const std::string& where) {
  if (asked.image_size > 0) {
    if (stated.image_size > 0 && !(asked == stated)) warn_of_other(stated, asked, where);
    return asked;
  }
  if (stated.image_size > 0) return stated;
  if (otherwise < 1) {
    fail_usage(
        "{} does not say what images it takes: give --preprocess, such as imagenet (256, 224, normalised), clip, or "
        "plain:size=224 where the normalisation is inside (`protocom extract --preprocess compare` tries them)",
        where);
  }
  Preprocessing taken;
  taken.image_size = otherwise;
  logger().info("{} does not say what images it takes: '{}' is assumed (--preprocess says otherwise)", where,
                describe(taken));
  return taken;
}

at::Tensor channel_values(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).to(at::kFloat).view({1, 3, 1, 1});
}

int64_t images_of_one_thread(int64_t side, int64_t large_ones) {
  constexpr int64_t kPixels = int64_t{224} * 224;
  constexpr int64_t kMost = 8;
  return std::clamp<int64_t>(large_ones * kPixels / (side * side), 1, kMost);
}

at::Tensor trial_images(int64_t size) {
  return at::arange(int64_t{6} * size * size, at::kFloat).sin().mul(0.5).add(0.5).view({2, 3, size, size});
}

}  // namespace protocom
