#include "recognizer/expected_accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace protocom {
namespace {

constexpr int64_t kMostRounds = 10;  ///< rounds of leaving one moment of each class out
/// Number of independent images that each left-out moment counts as: with it, nine of ten measured accuracies are in
/// the stated range, over 2,880 small recognizers of val classes of CUB-100 and base classes of Tiny-ImageNet-100
/// (two encoders).
constexpr double kIndependentShare = 0.5;

using PhotosOfMoments = std::vector<std::vector<int64_t>>;  ///< of one class
using LeftOutImages = std::vector<std::vector<int64_t>>;    ///< by class

struct Tally {
  int64_t asked = 0;
  int64_t right = 0;
  std::vector<LeftOutMistake> mistakes;

  [[nodiscard]] double error() const { return 1 - static_cast<double>(right) / static_cast<double>(asked); }
};

/// Returns the most probable class for the feature [1, d].
int64_t first_class(const ClassScorer& scorer, const Array& feature) {
  const FloatMatrix logits = scorer.score(feature).logits;
  int64_t first = 0;
  logits.row(0).maxCoeff(&first);
  return first;
}

/// Classifies the first left-out image of each class, so that a moment's images do not count several times.
void ask(const ClassScorer& scorer, const LeftOutImages& left_out, Tally& tally) {
  const auto rest = scorer.without(left_out);
  const std::vector<std::string>& names = scorer.class_names();
  for (size_t k = 0; k < left_out.size(); ++k) {
    if (left_out[k].empty()) continue;
    const auto own = static_cast<int64_t>(k);
    const int64_t image = left_out[k].front();
    const int64_t taken_for = first_class(*rest, scorer.images(own).rows(image, image + 1));
    ++tally.asked;
    if (taken_for == own)
      ++tally.right;
    else
      tally.mistakes.push_back({names[k], image, names[static_cast<size_t>(taken_for)]});
  }
}

int64_t count_rounds(const std::vector<PhotosOfMoments>& moments) {
  int64_t most = 0;
  for (const PhotosOfMoments& own : moments) most = std::max(most, static_cast<int64_t>(own.size()));
  return std::min(most, kMostRounds);
}

/// Returns one moment of each class: over all rounds each once, or as many as there are rounds, evenly.
LeftOutImages left_out_in(int64_t round, const std::vector<PhotosOfMoments>& moments) {
  LeftOutImages left_out(moments.size());
  for (size_t k = 0; k < moments.size(); ++k) {
    const auto count = static_cast<int64_t>(moments[k].size());
    const int64_t moment = count <= kMostRounds ? round : round * count / kMostRounds;
    if (count >= 2 && moment < count) left_out[k] = moments[k][static_cast<size_t>(moment)];
  }
  return left_out;
}

Tally ask_one_by_one(const ClassScorer& scorer, const std::vector<PhotosOfMoments>& moments, int64_t rounds,
                     Progress& progress) {
  Tally tally;
  for (int64_t round = 0; round < rounds; ++round) {
    ask(scorer, left_out_in(round, moments), tally);
    progress.advance(round + 1, "");
  }
  return tally;
}

/// Returns the ratio by which the error falls when classes of `before` images get `after`: on average over the same
/// recognizers the error falls as 1 / sqrt(K + .3).
double error_left(double before, double after) {
  constexpr double kAtFirst = 0.3;
  return std::sqrt((before + kAtFirst) / (after + kAtFirst));
}

/// Returns Wilson's interval of a share observed in n cases.
std::pair<double, double> wilson_interval(double share, double n) {
  constexpr double kNineOfTen = 1.645;
  constexpr double kSquare = kNineOfTen * kNineOfTen;
  const double middle = share + kSquare / (2 * n);
  const double half = kNineOfTen * std::sqrt(share * (1 - share) / n + kSquare / (4 * n * n));
  return {(middle - half) / (1 + kSquare / n), (middle + half) / (1 + kSquare / n)};
}

std::vector<PhotosOfMoments> moments_of(const ClassScorer& scorer) {
  std::vector<PhotosOfMoments> moments;
  for (const PhotoMoments& own : scorer.moments()) moments.push_back(photos_of(own));
  return moments;
}

/// Returns the mean number of moments of a class from which some were classified.
double moments_per_class(const std::vector<PhotosOfMoments>& moments) {
  double sum = 0, classes = 0;
  for (const PhotosOfMoments& own : moments) {
    if (own.size() < 2) continue;
    sum += static_cast<double>(own.size());
    ++classes;
  }
  return sum / classes;
}

std::string counted(int64_t count, const char* what, const char* ending) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : ending);
}

/// Explains why unlabelled photos may lower the figure: a lead of up to 5 photos may be chance even if no photo
/// contradicts it (a sign test gives 2^-4 at best).
std::string reason_of_fall(const ExpectedAccuracy& expected) {
  constexpr int64_t kByChance = 5;
  if (!(*expected.without_unlabelled > expected.expected)) return "";
  const double left = (1 - expected.expected) / (1 - expected.accuracy);  // as in expected_accuracy()
  const double fall = (*expected.without_unlabelled - expected.expected) / left;
  const auto fewer = static_cast<int64_t>(std::round(fall * static_cast<double>(expected.asked)));
  if (fewer < 1) return "";
  return fmt::format(" (with them {} fewer of the {} left out {} right, {})", fewer, expected.asked,
                     fewer == 1 ? "is" : "are", fewer > kByChance ? "so leave them out" : "which may be chance");
}

std::string caveat_of_one_moment(const ExpectedAccuracy& expected) {
  return fmt::format(
      " Do not trust this if the photos of a class are frames of one moment: in {} of {} classes they are nearly the "
      "same. The real accuracy is then lower: add photos of other moments, or state the moments by --moments.",
      expected.nearly_same, expected.classes);
}

}  // namespace

ExpectedAccuracy expected_accuracy(const ClassScorer& scorer, Progress& progress) {
  ExpectedAccuracy expected;
  expected.classes = static_cast<int64_t>(scorer.class_names().size());
  expected.unlabelled = scorer.unlabelled_count();
  const std::vector<PhotosOfMoments> moments = moments_of(scorer);
  for (size_t k = 0; k < moments.size(); ++k) {
    expected.images += scorer.count(static_cast<int64_t>(k));
    expected.moments += static_cast<int64_t>(moments[k].size());
  }
  const int64_t rounds = count_rounds(moments);
  if (rounds < 2 || expected.classes < 2) return expected;
  progress.start("leave-one-out rounds", rounds);
  Tally tally = ask_one_by_one(scorer, moments, rounds, progress);
  progress.finish();
  const double count = moments_per_class(moments), left = error_left(count - 1, count);
  expected.asked = tally.asked;
  expected.accuracy = 1 - tally.error();
  expected.expected = 1 - left * tally.error();
  const auto [least, largest] = wilson_interval(tally.error(), kIndependentShare * static_cast<double>(tally.asked));
  expected.low = 1 - left * largest;
  expected.high = 1 - left * least;
  expected.gain =
      100 * left * tally.error() * (1 - error_left(count, count + static_cast<double>(ExpectedAccuracy::kMoreImages)));
  expected.mistakes = std::move(tally.mistakes);
  if (expected.unlabelled == 0) return expected;
  progress.start("leave-one-out rounds, without the unlabelled photos", rounds);
  expected.without_unlabelled =
      1 - left * ask_one_by_one(*scorer.without_unlabelled(), moments, rounds, progress).error();
  progress.finish();
  return expected;
}

std::vector<LeftOutImage> left_out_images(const ClassScorer& scorer) {
  const std::vector<PhotosOfMoments> moments = moments_of(scorer);
  std::vector<LeftOutImage> images;
  if (moments.size() < 2) return images;
  for (int64_t round = 0; round < count_rounds(moments); ++round) {
    const LeftOutImages left_out = left_out_in(round, moments);
    for (size_t k = 0; k < left_out.size(); ++k) {
      if (!left_out[k].empty()) images.push_back({static_cast<int64_t>(k), left_out[k].front()});
    }
  }
  return images;
}

LeftOutComparison compare_left_out(const ClassScorer& scorer, const std::vector<LeftOutImage>& images,
                                   const Array& others) {
  std::map<std::pair<int64_t, int64_t>, int64_t> rows;
  for (const LeftOutImage& one : images) rows.emplace(std::pair(one.own, one.image), static_cast<int64_t>(rows.size()));
  const std::vector<PhotosOfMoments> moments = moments_of(scorer);
  LeftOutComparison made;
  for (int64_t round = 0; round < count_rounds(moments); ++round) {
    const LeftOutImages left_out = left_out_in(round, moments);
    const auto rest = scorer.without(left_out);
    for (size_t k = 0; k < left_out.size(); ++k) {
      const auto own = static_cast<int64_t>(k);
      const auto found = left_out[k].empty() ? rows.end() : rows.find({own, left_out[k].front()});
      if (found == rows.end()) continue;
      const int64_t image = found->first.second, row = found->second;
      const int64_t before = first_class(*rest, scorer.images(own).rows(image, image + 1));
      const int64_t after = first_class(*rest, others.rows(row, row + 1));
      ++made.asked;
      made.right += before == own ? 1 : 0;
      made.right_by_others += after == own ? 1 : 0;
      made.changed += before != after ? 1 : 0;
    }
  }
  return made;
}

std::string sentence_of(const ExpectedAccuracy& expected, const std::string& basis) {
  const bool bursts = expected.moments < expected.images;
  std::string text = counted(expected.classes, "class", "es") + ", " + counted(expected.images, "photo", "s");
  if (bursts) text += ", " + counted(expected.moments, "moment", "s");
  text += ", " + basis;
  if (expected.classes < 2) return text + ": enrol another class to compare with.";
  if (expected.asked == 0)
    return text + (bursts ? ": to predict its accuracy, enrol photos of two moments of a class."
                          : ": to predict its accuracy, enrol two photos of a class.");
  text += fmt::format(
      ": expected accuracy on new photos {:.0f} %, between {:.0f} and {:.0f} % with 90 % confidence (leave-one-out "
      "over {} {})",
      100 * expected.expected, 100 * expected.low, 100 * expected.high, expected.asked, bursts ? "moments" : "photos");
  if (expected.without_unlabelled)
    text += fmt::format("; {:.0f} % without the {} unlabelled one{}{}", 100 * *expected.without_unlabelled,
                        expected.unlabelled, expected.unlabelled == 1 ? "" : "s", reason_of_fall(expected));
  if (expected.nearly_same > 0) return text + "." + caveat_of_one_moment(expected);
  if (!expected.gain || std::round(*expected.gain) < 1) return text + ".";
  const auto points = static_cast<int64_t>(std::round(*expected.gain));
  return text + fmt::format("; {} more photos per class should add about {} point{}.", ExpectedAccuracy::kMoreImages,
                            points, points == 1 ? "" : "s");
}

}  // namespace protocom
