#include "datasets/divide_classes.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "base/to_whole.h"

namespace protocom {
namespace {

constexpr double kValShare = 0.16, kNovelShare = 0.2;  // 64, 16 and 20 of 100 classes: section 4.1 of the paper
constexpr int64_t kWay = 5;
constexpr int64_t kFewest = 2;

/// Returns the number of classes of a part: the share, or as many as tasks of kWay need if that is more, but of those
/// at most one class in `least`; at least two, since tasks of one class are trivial.
int64_t part_of(int64_t classes, double share, int64_t least) {
  const auto shared = to_whole<int64_t>(std::round(share * static_cast<double>(classes)));
  return std::max({shared, std::min(kWay, classes / least), kFewest});
}

/// Returns the indices of classes with enough images for episodes.
std::vector<size_t> eligible(const std::vector<int64_t>& images, int64_t fewest) {
  std::vector<size_t> places;
  for (size_t c = 0; c < images.size(); ++c) {
    if (images[c] >= fewest) places.push_back(c);
  }
  return places;
}

}  // namespace

std::vector<Split> divide_classes(const std::vector<int64_t>& images, const DivisionOptions& options) {
  for (const int64_t number : {options.val.value_or(0), options.novel.value_or(0), options.fewest_images}) {
    if (number < 0) fail_usage("number of classes or images: expected at least 0, found {}", number);
  }
  const auto classes = static_cast<int64_t>(images.size());
  const int64_t val = options.val.value_or(part_of(classes, kValShare, 5));
  const int64_t novel = options.novel.value_or(part_of(classes, kNovelShare, 3));
  if (val >= classes || novel >= classes - val || classes - val - novel < kFewest) {
    fail("{} classes are too few for {} val, {} novel and {} base ones: request fewer val or novel classes", classes,
         val, novel, kFewest);
  }
  const std::vector<size_t> places = eligible(images, options.fewest_images);
  const auto enough = static_cast<int64_t>(places.size());
  if (enough < val + novel) {
    fail(
        "{} val and {} novel classes need {} images each, which {} of {} classes have: request fewer classes (val, "
        "novel) or images (fewest-images)",
        val, novel, options.fewest_images, enough, classes);
  }
  std::vector<Split> split(images.size(), Split::kBase);
  const std::vector<int64_t> drawn = Rng(options.seed).sample(enough, val + novel);
  for (size_t i = 0; i < drawn.size(); ++i) {
    const bool is_val = static_cast<int64_t>(i) < val;
    split[places[static_cast<size_t>(drawn[i])]] = is_val ? Split::kVal : Split::kNovel;
  }
  return split;
}

}  // namespace protocom
