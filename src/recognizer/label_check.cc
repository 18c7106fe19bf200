#include "recognizer/label_check.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "recognizer/detail/left_out_answers.h"
#include "recognizer/twin_examples.h"

namespace protocom {
namespace {

/// Least number and share of mistakes for which two classes are reported as confused.
constexpr int64_t kFewestMistaken = 2;
constexpr double kConfused = 0.25;
/// Least number of photos from which two classes confused about as often as by chance may be one class.
constexpr int64_t kFewestOfOneClass = 8;
constexpr double kByChance = 0.4;

/// The nominal rate for which kFalselyMisplaced was measured.
constexpr double kAskedRate = 0.02;
/// Assumed share of wrong labels in the fit of the power of the probabilities.
constexpr double kWrongLabels = 0.05;

/// Returns the probabilities raised to a power and renormalised.
DoubleMatrix to_power(const DoubleMatrix& logs, double log_power) {
  DoubleMatrix made = std::exp(log_power) * logs;
  made.colwise() -= made.rowwise().maxCoeff().eval();
  made = made.array().exp();
  made.array().colwise() /= made.rowwise().sum().eval().array();
  return made;
}

/// Returns the negative log likelihood of the labels, of which a share kWrongLabels may be of any class, with a normal
/// prior on the logarithm of the power.
double label_cost(const DoubleMatrix& probabilities, const std::vector<int64_t>& classes, double log_power) {
  double cost = log_power * log_power / 2;
  for (size_t i = 0; i < classes.size(); ++i) {
    const double own = probabilities(static_cast<int64_t>(i), classes[i]);
    cost -= std::log((1 - kWrongLabels) * own + kWrongLabels / static_cast<double>(probabilities.cols()));
  }
  return cost;
}

/// Raises the probabilities to the power that makes the labels most likely, since held-out images are scored with
/// classes of fewer images: the best of a grid, then of a finer one around it.
DoubleMatrix with_best_power(const LeftOutAnswers& answers) {
  constexpr double kEnd = 3;
  const DoubleMatrix logs = answers.probabilities.cwiseMax(1e-300).array().log();
  double best = 0, reach = kEnd, least = label_cost(to_power(logs, 0), answers.classes, 0);
  for (double step = 0.25; step > 0.01; reach = step, step /= 5) {
    const double center = best;
    const auto steps = std::lround(reach / step);
    for (int64_t k = -steps; k <= steps; ++k) {
      const double log_power = center + static_cast<double>(k) * step;
      const double cost = label_cost(to_power(logs, log_power), answers.classes, log_power);
      if (cost < least) least = cost, best = log_power;
    }
  }
  return to_power(logs, best);
}

/// Returns the largest t such that classes with a probability below it have the share `rate` of all probability.
double bound_of(const DoubleMatrix& probabilities, double rate) {
  std::vector<double> values(probabilities.data(), probabilities.data() + probabilities.size());
  std::sort(values.begin(), values.end());
  double left = rate * static_cast<double>(probabilities.rows());
  for (const double value : values) {
    left -= value;
    if (left < 0) return value;
  }
  return 1;
}

void add_misplaced(const LeftOutAnswers& answers, int64_t i, const RecognizerSnapshot& snapshot, LabelCheck& check) {
  const auto own = static_cast<size_t>(answers.classes[static_cast<size_t>(i)]);
  const int64_t best = answers.best(i);
  for (const int64_t image : answers.images[static_cast<size_t>(i)]) {
    const KeptExample& example = snapshot.examples[own][static_cast<size_t>(image)];
    check.misplaced.push_back({example.id, example.source, snapshot.enrolled.classes[own].name, answers.own(i),
                               snapshot.enrolled.classes[static_cast<size_t>(best)].name,
                               answers.probabilities(i, best)});
  }
}

void take_misplaced(const LeftOutAnswers& answers, const RecognizerSnapshot& snapshot, LabelCheck& check) {
  const double bound = bound_of(answers.probabilities, kAskedRate);
  for (int64_t i = 0; i < answers.count(); ++i) {
    if (answers.own(i) < bound && answers.best(i) != answers.classes[static_cast<size_t>(i)])
      add_misplaced(answers, i, snapshot, check);
  }
  std::stable_sort(check.misplaced.begin(), check.misplaced.end(),
                   [](const MisplacedImage& a, const MisplacedImage& b) { return a.probability < b.probability; });
}

/// How often images of each class are more probably of each other class.
using Mistaken = std::map<std::pair<int64_t, int64_t>, int64_t>;

Mistaken mistaken_pairs(const LeftOutAnswers& answers) {
  Mistaken pairs;
  for (int64_t i = 0; i < answers.count(); ++i) {
    const int64_t own = answers.classes[static_cast<size_t>(i)];
    for (int64_t k = 0; k < answers.probabilities.cols(); ++k) {
      if (answers.probabilities(i, k) > answers.own(i)) ++pairs[{std::min(own, k), std::max(own, k)}];
    }
  }
  return pairs;
}

std::vector<int64_t> asked_of_each(const LeftOutAnswers& answers) {
  std::vector<int64_t> asked(static_cast<size_t>(answers.probabilities.cols()));
  for (const int64_t k : answers.classes) ++asked[static_cast<size_t>(k)];
  return asked;
}

void take_confused(const LeftOutAnswers& answers, const std::vector<std::string>& names, LabelCheck& check) {
  const std::vector<int64_t> asked = asked_of_each(answers);
  const auto share = [](const ConfusedClasses& pair) {
    return static_cast<double>(pair.mistaken) / static_cast<double>(pair.asked);
  };
  for (const auto& [pair, mistaken] : mistaken_pairs(answers)) {
    const auto first = static_cast<size_t>(pair.first), second = static_cast<size_t>(pair.second);
    ConfusedClasses found{names[first], names[second], asked[first] + asked[second], mistaken};
    if (mistaken < kFewestMistaken || share(found) < kConfused) continue;
    found.same = asked[first] > 0 && asked[second] > 0 && found.asked >= kFewestOfOneClass && share(found) >= kByChance;
    check.confused.push_back(found);
  }
  std::stable_sort(check.confused.begin(), check.confused.end(),
                   [&](const ConfusedClasses& a, const ConfusedClasses& b) { return share(a) > share(b); });
}

void take_classes(const LeftOutAnswers& answers, const std::vector<std::string>& names, LabelCheck& check) {
  std::vector<LeftOutClass> all(names.size());
  for (size_t k = 0; k < names.size(); ++k) all[k].name = names[k];
  for (int64_t i = 0; i < answers.count(); ++i) {
    LeftOutClass& own = all[static_cast<size_t>(answers.classes[static_cast<size_t>(i)])];
    ++own.asked;
    own.right += answers.best(i) == answers.classes[static_cast<size_t>(i)] ? 1 : 0;
    own.probability += answers.own(i);
  }
  for (LeftOutClass& one : all) {
    if (one.asked == 0) continue;
    one.probability /= static_cast<double>(one.asked);
    check.classes.push_back(one);
  }
  std::stable_sort(check.classes.begin(), check.classes.end(),
                   [](const LeftOutClass& a, const LeftOutClass& b) { return a.probability < b.probability; });
}

/// Returns examples with equal content in two classes.
std::vector<SharedImage> copies_in_two_classes(const RecognizerFile& file) {
  std::map<std::string, ExampleInfo> first;
  std::vector<SharedImage> found;
  for (const ExampleInfo& example : file.list_examples("")) {
    const auto [at, is_new] = first.emplace(example.hash, example);
    if (is_new || at->second.class_name == example.class_name) continue;
    const bool ascending = at->second.id < example.id;  // the list is sorted by class
    const ExampleInfo& low = ascending ? at->second : example;
    const ExampleInfo& high = ascending ? example : at->second;
    found.push_back({low.id, low.class_name, high.id, high.class_name, low.source, high.source, true});
  }
  return found;
}

std::map<int64_t, std::string> sources_of(const RecognizerSnapshot& snapshot) {
  std::map<int64_t, std::string> sources;
  for (const auto& examples : snapshot.examples) {
    for (const KeptExample& example : examples) sources[example.id] = example.source;
  }
  return sources;
}

}  // namespace

std::vector<SharedImage> images_in_two_classes(const RecognizerFile& file, const RecognizerSnapshot& snapshot) {
  std::vector<SharedImage> found = copies_in_two_classes(file);
  std::map<int64_t, std::string> sources;
  for (const TwinExamples& pair : find_twins(snapshot)) {
    if (pair.class_name == pair.twin_class) continue;
    const bool known = std::any_of(found.begin(), found.end(), [&](const SharedImage& image) {
      return image.example == std::min(pair.example, pair.twin) && image.twin == std::max(pair.example, pair.twin);
    });
    if (known) continue;
    if (sources.empty()) sources = sources_of(snapshot);
    found.push_back(
        {pair.example, pair.class_name, pair.twin, pair.twin_class, sources[pair.example], sources[pair.twin], false});
  }
  return found;
}

LabelCheck check_labels(const ClassScorer& scorer, const RecognizerSnapshot& snapshot, double factor,
                        Progress& progress) {
  LabelCheck check;
  check.false_rate = kFalselyMisplaced;
  if (scorer.class_names().size() < 2) return check;
  LeftOutAnswers answers = leave_moments_out(scorer, factor, progress);
  check.asked = answers.count();
  answers.probabilities = with_best_power(answers);
  take_misplaced(answers, snapshot, check);
  take_confused(answers, scorer.class_names(), check);
  take_classes(answers, scorer.class_names(), check);
  return check;
}

std::string sentence_of(const ConfusedClasses& pair) {
  const std::string names = fmt::format("'{}' and '{}'", excerpt(pair.first), excerpt(pair.second));
  const std::string found =
      fmt::format("{} of {} photos left out are classified as the other one", pair.mistaken, pair.asked);
  if (pair.same) return fmt::format("{} may be one class under two names: {}", names, found);
  return fmt::format("{} are confused: {}", names, found);
}

std::string sentence_of(const SharedImage& image) {
  const char* what = image.copy ? "the same photo" : "almost the same photo";
  return fmt::format("{} is in '{}' (example {}, {}) and in '{}' (example {}, {})", what, excerpt(image.class_name),
                     image.example, image.source, excerpt(image.twin_class), image.twin, image.twin_source);
}

std::string sentence_of_weakest(const LabelCheck& check) {
  constexpr size_t kMost = 3;
  std::vector<std::string> said;
  for (const LeftOutClass& one : check.classes) {
    if (said.size() == kMost || check.classes.size() < kMost) break;
    if (one.right < one.asked)
      said.push_back(fmt::format("'{}' ({} of {} right by leave-one-out)", excerpt(one.name), one.right, one.asked));
  }
  return said.empty() ? "" : fmt::format("more photos would help most: {}", fmt::join(said, ", "));
}

}  // namespace protocom
