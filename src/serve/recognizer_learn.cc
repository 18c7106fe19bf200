#include <ATen/ATen.h>

#include <algorithm>

#include "protocom/core/error.h"
#include "protocom/core/log.h"
#include "protocom/serve/recognizer.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> spread_evenly(const std::vector<fs::path>& paths, int64_t most) {
  const auto n = static_cast<int64_t>(paths.size());
  if (n <= most) return paths;
  std::vector<fs::path> some;
  for (int64_t i = 0; i < most; ++i) some.push_back(paths[static_cast<size_t>(i * n / most)]);
  return some;
}

}  // namespace

void Recognizer::check_learns_from_unlabelled() const {
  if (model_->learns_from_unlabelled()) return;
  fail_usage(
      "unlabelled photos count where the space follows your own: {} was made with a method fitted on base classes "
      "(--fitted, --model), which stays as it is",
      file_.path().string());
}

LearnedUnlabelled Recognizer::add_unlabelled(const std::vector<fs::path>& images, Progress& progress) {
  check_learns_from_unlabelled();
  const int64_t room = kMostUnlabelled - file_.count_unlabelled();
  if (room < 1)
    fail("{} holds {} unlabelled photos already, and more hardly gain", file_.path().string(), kMostUnlabelled);
  if (static_cast<int64_t>(images.size()) > room)
    logger().info("of {} unlabelled photos {} are taken, evenly: a recognizer holds up to {}", images.size(), room,
                  kMostUnlabelled);
  NewExamples examples;
  std::vector<at::Tensor> features;
  const auto take = [&](const fs::path& path, const EmbeddedImage& embedded) {
    features.push_back(embedded.feature);
    examples.hashes.push_back(embedded.hash);
    examples.sources.push_back(path.string());
    examples.thumbnails.push_back(embedded.thumbnail);
  };
  LearnedUnlabelled done;
  done.unreadable = embed(spread_evenly(images, room), take, progress);
  if (features.empty()) fail("none of the unlabelled photos can be read");
  examples.features = at::stack(features);
  done.added = file_.add_unlabelled(examples);
  done.held = static_cast<int64_t>(features.size()) - done.added;
  done.images = file_.count_unlabelled();
  return done;
}

}  // namespace protocom
