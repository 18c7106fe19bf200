#include "recognizer/suggest_photos.h"

#include <numeric>
#include <set>

#include "base/error.h"
#include "base/evenly.h"
#include "encoders/embed.h"
#include "recognizer/detail/best_classes.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostCandidates = 5000;  ///< to choose from
constexpr int64_t kMostTargets = 2000;     ///< images whose doubt counts

DoubleVector compute_doubts(const DoubleMatrix& probabilities) {
  DoubleVector doubts(probabilities.rows());
  for (int64_t i = 0; i < probabilities.rows(); ++i) {
    double first = 0, second = 0;
    for (int64_t k = 0; k < probabilities.cols(); ++k) {
      const double value = probabilities(i, k);
      if (value > first)
        second = std::exchange(first, value);
      else
        second = std::max(second, value);
    }
    doubts[i] = 1 - (first - second);
  }
  return doubts;
}

/// Returns the rows with the greatest doubts, ascending.
std::vector<int64_t> most_doubtful(const DoubleVector& doubts, int64_t most) {
  std::vector<int64_t> rows(static_cast<size_t>(doubts.size()));
  std::iota(rows.begin(), rows.end(), 0);
  if (doubts.size() <= most) return rows;
  std::stable_sort(rows.begin(), rows.end(), [&](int64_t a, int64_t b) { return doubts[a] > doubts[b]; });
  rows.resize(static_cast<size_t>(most));
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// The candidate that covers most of the remaining doubt; nothing if all are chosen.
struct BestCandidate {
  int64_t candidate = -1;
  double gain = -1;
};

BestCandidate best_candidate(const FloatMatrix& likeness, const Eigen::RowVectorXf& covered,
                             const Eigen::VectorXf& doubts, const std::vector<char>& chosen) {
  BestCandidate best;
  for (int64_t i = 0; i < likeness.rows(); ++i) {
    if (chosen[static_cast<size_t>(i)] != 0) continue;
    const auto gain = static_cast<double>((likeness.row(i) - covered).cwiseMax(0.0F) * doubts);
    if (gain > best.gain) best = {i, gain};
  }
  return best;
}

}  // namespace

std::vector<ChosenRow> choose_to_label(const DoubleMatrix& probabilities, const FloatMatrix& features, int64_t count) {
  std::vector<ChosenRow> rows;
  if (probabilities.rows() == 0) return rows;
  const DoubleVector doubts = compute_doubts(probabilities);
  const std::vector<int64_t> candidates = most_doubtful(doubts, kMostCandidates);
  const std::vector<int64_t> targets = evenly(doubts.size(), kMostTargets);
  FloatMatrix points = features.rowwise() - features.colwise().mean().eval();
  scale_to_unit_rows(points);
  const FloatMatrix likeness =
      (points(candidates, Eigen::all) * points(targets, Eigen::all).transpose()).cwiseMax(0.0F);
  const Eigen::VectorXf left = doubts(targets).cast<float>();
  const double all = std::max(left.cast<double>().sum(), 1e-12);
  Eigen::RowVectorXf covered = Eigen::RowVectorXf::Zero(likeness.cols());
  std::vector<char> chosen(candidates.size(), 0);
  while (static_cast<int64_t>(rows.size()) < std::min(count, static_cast<int64_t>(candidates.size()))) {
    const BestCandidate best = best_candidate(likeness, covered, left, chosen);
    const int64_t row = candidates[static_cast<size_t>(best.candidate)];
    chosen[static_cast<size_t>(best.candidate)] = 1;
    covered = covered.cwiseMax(likeness.row(best.candidate));
    rows.push_back({row, doubts[row], best.gain / all});
  }
  return rows;
}

namespace {

/// Returns the rows whose content is not enrolled.
std::vector<int64_t> new_rows(const RecognizerFile& file, const std::vector<std::string>& hashes) {
  std::set<std::string> held;
  for (const ExampleInfo& example : file.list_examples("")) held.insert(example.hash);
  std::vector<int64_t> rows;
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (held.count(hashes[i]) == 0) rows.push_back(static_cast<int64_t>(i));
  }
  return rows;
}

Suggestion suggestion_of(const ChosenRow& chosen, const DoubleMatrix& probabilities,
                         const std::vector<std::string>& classes) {
  const Eigen::RowVectorXf row = probabilities.row(chosen.row).cast<float>();
  const std::vector<int64_t> best = best_classes(row.data(), row.size(), 2);
  Suggestion made;
  made.answer = classes[static_cast<size_t>(best[0])];
  made.probability = probabilities(chosen.row, best[0]);
  if (best.size() > 1) made.runner_up = classes[static_cast<size_t>(best[1])];
  made.doubt = chosen.doubt;
  made.share = chosen.share;
  return made;
}

}  // namespace

Suggestions suggest_rows(Recognizer& recognizer, const NewExamples& images, int64_t count) {
  if (count < 1) fail_usage("photos to suggest: expected at least 1, found {}", count);
  const std::vector<int64_t> rows = new_rows(recognizer.file(), images.hashes);
  if (rows.empty())
    fail("all {} images are enrolled in {} already: there is none to suggest", images.hashes.size(),
         recognizer.file().path().string());
  Suggestions made;
  made.looked_at = static_cast<int64_t>(rows.size());
  made.already_enrolled = static_cast<int64_t>(images.hashes.size() - rows.size());
  const Array kept = images.features.gathered(rows);
  const DoubleMatrix probabilities = recognizer.probabilities(kept);
  for (const ChosenRow& chosen : choose_to_label(probabilities, matrix_of<float>(kept), count)) {
    Suggestion one = suggestion_of(chosen, probabilities, recognizer.class_names());
    one.row = rows[static_cast<size_t>(chosen.row)];
    one.image = images.sources[static_cast<size_t>(one.row)];
    made.images.push_back(std::move(one));
  }
  return made;
}

Suggestions suggest(Recognizer& recognizer, const std::vector<fs::path>& images, int64_t count, Progress& progress) {
  if (count < 1) fail_usage("photos to suggest: expected at least 1, found {}", count);
  recognizer.class_names();  // fails before images are read if the classes are invalid
  ExamplesInParts parts;
  const auto take = [&](size_t i, const EmbeddedImage& embedded) {
    parts.add({embedded.feature, {embedded.hash}, {images[i].string()}});
  };
  std::vector<UnreadableFile> unreadable = recognizer.embed(images, take, progress);
  const NewExamples read = std::move(parts).joined();
  if (read.hashes.empty()) fail("no image can be read{}", unreadable.empty() ? "" : ": " + unreadable.front().reason);
  Suggestions made = suggest_rows(recognizer, read, count);
  made.unreadable = std::move(unreadable);
  return made;
}

}  // namespace protocom
