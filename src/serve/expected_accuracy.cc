#include "protocom/serve/expected_accuracy.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "protocom/core/rng.h"

namespace protocom {
namespace {

constexpr int64_t kMostRounds = 10;  ///< of leaving one image of each class out
constexpr int64_t kHalves = 5;       ///< draws of half of the images
constexpr int64_t kFewestToHalve = 4;

using LeftOutImages = std::vector<std::vector<int64_t>>;

struct Tally {
  int64_t asked = 0;
  int64_t right = 0;
  std::vector<LeftOutMistake> mistakes;

  [[nodiscard]] double error() const { return 1 - static_cast<double>(right) / static_cast<double>(asked); }
};

/// Asks about the images that are left out.
void ask(const ClassScorer& scorer, const LeftOutImages& left_out, Tally& tally) {
  const auto rest = scorer.without(left_out);
  const std::vector<std::string>& names = scorer.class_names();
  for (size_t k = 0; k < left_out.size(); ++k) {
    if (left_out[k].empty()) continue;
    const auto own = static_cast<int64_t>(k);
    const at::Tensor asked = scorer.images(own).index_select(0, at::tensor(left_out[k], at::kLong));
    const at::Tensor first = rest->score(asked).logits[0].argmax(-1).contiguous();
    tally.asked += asked.size(0);
    for (size_t i = 0; i < left_out[k].size(); ++i) {
      const int64_t taken_for = first.data_ptr<int64_t>()[i];
      if (taken_for == own)
        ++tally.right;
      else
        tally.mistakes.push_back({names[k], left_out[k][i], names[static_cast<size_t>(taken_for)]});
    }
  }
}

/// Each image once, or kMostRounds of each class.
Tally ask_one_by_one(const ClassScorer& scorer, int64_t most, Progress& progress) {
  const auto classes = static_cast<int64_t>(scorer.class_names().size());
  Tally tally;
  for (int64_t round = 0; round < std::min(most, kMostRounds); ++round) {
    LeftOutImages left_out(static_cast<size_t>(classes));
    for (int64_t k = 0; k < classes; ++k) {
      const int64_t count = scorer.count(k);
      const int64_t image = count <= kMostRounds ? round : round * count / kMostRounds;
      if (count >= 2 && image < count) left_out[static_cast<size_t>(k)] = {image};
    }
    ask(scorer, left_out, tally);
    progress.advance(round + 1, "");
  }
  return tally;
}

Tally ask_halves(const ClassScorer& scorer, Progress& progress) {
  const auto classes = static_cast<int64_t>(scorer.class_names().size());
  Tally tally;
  Rng rng(1);
  for (int64_t draw = 0; draw < kHalves; ++draw) {
    LeftOutImages left_out(static_cast<size_t>(classes));
    for (int64_t k = 0; k < classes; ++k)
      left_out[static_cast<size_t>(k)] = rng.sample(scorer.count(k), scorer.count(k) / 2);
    ask(scorer, left_out, tally);
    progress.advance(draw + 1, "");
  }
  return tally;
}

/// What more images take off the error c K^-p that is `few` with K / 2 images and `many` with K - 1.
std::optional<double> gain_of(double few, double many, double images) {
  if (!(many > 0) || !(few > many)) return std::nullopt;
  const double power = std::log(few / many) / std::log((images - 1) / std::ceil(images / 2));
  const auto error = [&](double k) { return many * std::pow(k / (images - 1), -power); };
  return 100 * (error(images) - error(images + ExpectedAccuracy::kMoreImages));
}

}  // namespace

ExpectedAccuracy expected_accuracy(const ClassScorer& scorer, Progress& progress) {
  ExpectedAccuracy expected;
  expected.classes = static_cast<int64_t>(scorer.class_names().size());
  int64_t fewest = scorer.count(0), most = 0;
  for (int64_t k = 0; k < expected.classes; ++k) {
    expected.images += scorer.count(k);
    fewest = std::min(fewest, scorer.count(k));
    most = std::max(most, scorer.count(k));
  }
  if (most < 2 || expected.classes < 2) return expected;
  progress.start("rounds of leaving photos out", std::min(most, kMostRounds));
  Tally tally = ask_one_by_one(scorer, most, progress);
  progress.finish();
  expected.asked = tally.asked;
  expected.accuracy = 1 - tally.error();
  expected.mistakes = std::move(tally.mistakes);
  if (fewest < kFewestToHalve) return expected;
  progress.start("draws of half of the photos", kHalves);
  const double mean = static_cast<double>(expected.images) / static_cast<double>(expected.classes);
  expected.gain = gain_of(ask_halves(scorer, progress).error(), tally.error(), mean);
  progress.finish();
  return expected;
}

std::string sentence_of(const ExpectedAccuracy& expected, const std::string& basis) {
  std::string text = fmt::format("{} class{}, {} photo{}, {}", expected.classes, expected.classes == 1 ? "" : "es",
                                 expected.images, expected.images == 1 ? "" : "s", basis);
  if (expected.classes < 2) return text + ": enrol another class, there is nothing yet to compare with.";
  if (expected.asked == 0) return text + ": two photos of a class are needed to say how well it will do.";
  text += fmt::format(": {:.0f} % of new photos of these classes expected right ({} photos left out in turn)",
                      100 * expected.accuracy, expected.asked);
  if (!expected.gain || std::round(*expected.gain) < 1) return text + ".";
  return text + fmt::format("; {} more photos per class should add about {:.0f} points.", ExpectedAccuracy::kMoreImages,
                            *expected.gain);
}

}  // namespace protocom
