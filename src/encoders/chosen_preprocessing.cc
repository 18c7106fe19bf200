#include "encoders/chosen_preprocessing.h"

#include <fmt/format.h>

#include <mutex>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "encoders/encoder.h"
#include "encoders/network_options.h"

namespace protocom {
namespace {

/// Warns once per process for equal settings: a recognizer holds a copy of its backbone.
void warn_of_other(const Preprocessing& stated, const Preprocessing& asked, const std::string& where) {
  static std::mutex mutex;
  static std::set<std::string> warned;
  const std::string words = fmt::format("'{}'; '{}' is used, as requested", describe(stated), describe(asked));
  const std::lock_guard lock(mutex);
  if (warned.insert(words).second) logger().warn("{} states {}", where, words);
}

}  // namespace

void check_image_size(int64_t image_size) {
  if (image_size < 1 || image_size > kLargestImage)
    fail_usage("image size {0} of a backbone is out of range 1 to {1}", image_size, kLargestImage);
}

Preprocessing choose_preprocessing(const Preprocessing& asked, const Preprocessing& stated, int64_t otherwise,
                                   const std::string& where) {
  if (asked.image_size > 0) {
    if (stated.image_size > 0 && !(asked == stated)) warn_of_other(stated, asked, where);
    return asked;
  }
  if (stated.image_size > 0) return stated;
  if (otherwise < 1) {
    throw UnstatedPreprocessing(fmt::format(
        "{} does not state its preprocessing: give --preprocess, such as imagenet (256, 224, normalised), clip, or "
        "plain:size=224 where the encoder normalises (`protocom extract --preprocess compare` tries them)",
        where));
  }
  Preprocessing taken;
  taken.image_size = otherwise;
  logger().info("{} does not state its preprocessing: assuming '{}' (--preprocess overrides it)", where,
                describe(taken));
  return taken;
}

Preprocessing fitting_side(const Preprocessing& asked, int64_t side, const std::string& where) {
  if (asked.image_size < 1 || side < 1 || asked.image_size == side) return asked;
  Preprocessing fitting = at_size(asked, side);
  logger().info("{} is made for images of {} pixels: '{}' is used", where, side, describe(fitting));
  return fitting;
}

}  // namespace protocom
