#include "recognizer/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/evenly.h"
#include "io/files.h"
#include "io/json.h"
#include "recognizer/detail/none_of_these.h"

namespace protocom {
namespace {

/// Most groups of held-out images of one class, where each group needs a scorer of its own.
constexpr int64_t kMostGroups = 10;

/// The images of a moment that can be held out: its class keeps others, or the method needs none. The first of them is
/// classified. Empty: no class has two moments.
struct HeldOut {
  int64_t k = 0;
  std::vector<int64_t> images;
};

std::vector<HeldOut> moments_to_hold_out(const ClassScorer& scorer, int64_t most) {
  std::vector<HeldOut> all;
  const std::vector<PhotoMoments> moments = scorer.moments();
  // A space estimated from the enrolled images knows a class by its images alone.
  const int64_t fewest = std::max<int64_t>(scorer.adapts() ? 1 : 0, scorer.method().spec().fewest_shots);
  for (size_t k = 0; k < moments.size(); ++k) {
    const std::vector<std::vector<int64_t>> photos = photos_of(moments[k]);
    const auto count = static_cast<int64_t>(photos.size());
    if (count <= fewest) continue;
    for (const int64_t i : evenly(count, scorer.adapts() ? kMostGroups : count))
      all.push_back({static_cast<int64_t>(k), photos[static_cast<size_t>(i)]});
  }
  std::vector<HeldOut> taken;
  for (const int64_t i : evenly(static_cast<int64_t>(all.size()), most)) taken.push_back(all[static_cast<size_t>(i)]);
  return taken;
}

/// Groups the moments so that each group has at most one of each class; a group is held out together, because it needs
/// a scorer of its own where the method adapts to all images.
std::vector<std::vector<HeldOut>> groups_of(const std::vector<HeldOut>& moments) {
  std::vector<std::vector<HeldOut>> groups;
  std::map<int64_t, size_t> next;  // group of each class
  for (const HeldOut& out : moments) {
    const size_t group = next[out.k]++;
    if (group == groups.size()) groups.emplace_back();
    groups[group].push_back(out);
  }
  return groups;
}

/// Scores of held-out images, and their true classes.
struct LeftOutScores {
  FloatMatrix logits;          // [m, c]
  std::vector<int64_t> truth;  // [m]
  DoubleVector familiarity;    // [m]
};

/// Returns the scores of a group's held-out moments, in their order, after `done` earlier ones. Each is a step of the
/// progress, which may cancel between any two.
std::vector<QueryScores> scores_of(const ClassScorer& scorer, const std::vector<HeldOut>& group, int64_t done,
                                   Progress& progress) {
  std::vector<QueryScores> scores;
  if (!scorer.adapts()) {
    for (const HeldOut& out : group) {
      scores.push_back(scorer.score_without_images(out.k, out.images));
      progress.advance(++done, "");
    }
    return scores;
  }
  std::vector<std::vector<int64_t>> left_out(scorer.class_names().size());
  for (const HeldOut& out : group) left_out[static_cast<size_t>(out.k)] = out.images;
  const auto rest = scorer.without(left_out);
  for (const HeldOut& out : group) {
    const int64_t asked = out.images.front();
    scores.push_back(rest->score(scorer.images(out.k).rows(asked, asked + 1)));
  }
  return scores;
}

LeftOutScores hold_images_out(const ClassScorer& scorer, int64_t most, Progress& progress) {
  const std::vector<HeldOut> moments = moments_to_hold_out(scorer, most);
  LeftOutScores found;
  found.logits.resize(static_cast<int64_t>(moments.size()), static_cast<int64_t>(scorer.class_names().size()));
  found.familiarity.resize(found.logits.rows());
  if (moments.empty()) return found;
  progress.start("leave-one-out", static_cast<int64_t>(moments.size()));
  for (const std::vector<HeldOut>& group : groups_of(moments)) {
    auto done = static_cast<int64_t>(found.truth.size());
    const std::vector<QueryScores> scores = scores_of(scorer, group, done, progress);
    for (size_t i = 0; i < group.size(); ++i, ++done) {
      found.logits.row(done) = scores[i].logits.row(0);
      found.familiarity[done] = familiarity(scores[i])[0];
      found.truth.push_back(group[i].k);
    }
    progress.advance(done, "");
  }
  progress.finish();
  return found;
}

/// Returns the familiarity of one image of each moment of a class.
DoubleVector one_of_each(const DoubleVector& familiarities, const PhotoMoments& moments) {
  DoubleVector of_moments(count_of(moments));
  for (size_t i = moments.size(); i-- > 0;) of_moments[moments[i]] = familiarities[static_cast<int64_t>(i)];
  return of_moments;
}

DoubleVector hold_classes_out(const ClassScorer& scorer, int64_t most, Progress& progress) {
  const auto classes = static_cast<int64_t>(scorer.class_names().size());
  if (classes < 2) fail("cannot calibrate with one class: enrol another, or give images of other things (others)");
  const std::vector<PhotoMoments> moments = scorer.moments();
  std::vector<double> familiarities;
  int64_t visited = 0;
  progress.start("classes held out", std::min(classes, most));
  for (const int64_t k : evenly(classes, most)) {
    if (scorer.count(k) > 0 && !moments[static_cast<size_t>(k)].empty()) {
      const DoubleVector own = one_of_each(familiarity(scorer.score_without_class(k)), moments[static_cast<size_t>(k)]);
      familiarities.insert(familiarities.end(), own.begin(), own.end());
    }
    progress.advance(++visited, "");
  }
  progress.finish();
  return Eigen::Map<const DoubleVector>(familiarities.data(), static_cast<int64_t>(familiarities.size()));
}

/// Returns the negative log posterior of the factor's logarithm.
double cost(const LeftOutScores& own, double log_factor) {
  const double factor = std::exp(log_factor);
  double unlikely = log_sum_exp(own.logits, factor).sum();
  for (int64_t i = 0; i < own.logits.rows(); ++i)
    unlikely -= factor * static_cast<double>(own.logits(i, own.truth[static_cast<size_t>(i)]));
  return unlikely + 0.5 * log_factor * log_factor;
}

/// Minimises the cost, which has a single minimum, by golden-section search.
double fit_factor(const LeftOutScores& own) {
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double low = -6, high = 6;
  double left = high - ratio * (high - low), right = low + ratio * (high - low);
  double cost_left = cost(own, left), cost_right = cost(own, right);
  while (high - low > 1e-4) {
    if (cost_left < cost_right) {
      high = std::exchange(right, left);
      cost_right = cost_left;
      left = high - ratio * (high - low);
      cost_left = cost(own, left);
    } else {
      low = std::exchange(left, right);
      cost_left = cost_right;
      right = low + ratio * (high - low);
      cost_right = cost(own, right);
    }
  }
  return std::exp((low + high) / 2);
}

/// Returns the share of images whose largest logit is that of the true class.
double accuracy_of(const LeftOutScores& own) {
  int64_t right = 0;
  for (int64_t i = 0; i < own.logits.rows(); ++i) {
    int64_t first = 0;
    own.logits.row(i).maxCoeff(&first);
    right += first == own.truth[static_cast<size_t>(i)] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(own.truth.size());
}

/// Returns familiarities with unknown images: those given, or the images of each class held out in turn if there are
/// two or more classes.
Familiarities with_others(const ClassScorer& scorer, const LeftOutScores& own, const Array& others,
                          const CalibrationOptions& options, Progress& progress) {
  Familiarities of{own.familiarity, {}};
  if (others.defined()) {
    of.others = familiarity(scorer.score(others));
    return of;
  }
  const auto classes = static_cast<double>(scorer.class_names().size());
  of.others = hold_classes_out(scorer, options.most_classes, progress);
  of.likelier = classes / (classes - 1);
  return of;
}

/// Whether only different kinds are to be refused; the threshold then comes from the classes' own images alone.
bool is_of_own(const Array& others, const CalibrationOptions& options) {
  return !others.defined() && !options.false_accept && !options.similar;
}

void take_own_threshold(const Familiarities& of, Calibration& made) {
  const bool by_own = of.own.size() >= kFewestHeldOut;
  const DoubleVector& values = by_own ? of.own : of.others;
  if (values.size() < kFewestHeldOut)
    fail(
        "too few images to calibrate: {} images (a burst counts once) and {} classes can be held out, expected at "
        "least "
        "{} of either: enrol more, or give images of other things (others)",
        of.own.size(), of.others.size(), kFewestHeldOut);
  if (!by_own) made.images = 0;
  made.similar = false;
  made.threshold = own_threshold(values);
  made.slope = own_slope(values, made.threshold);
  made.accepted = exchange_at({values, of.others, of.likelier}, made.threshold).accepted;
  if (of.has_others()) made.false_accept = exchange_at(of, made.threshold).false_accept;
}

void take_threshold(const Familiarities& of, const CalibrationOptions& options, Calibration& made) {
  made.balanced = !options.false_accept;
  made.threshold = made.balanced ? balanced_threshold(of) : threshold_of(of, *options.false_accept);
  const Exchange found = exchange_at(of, made.threshold);
  made.false_accept = made.balanced ? found.false_accept : *options.false_accept;
  made.accepted = found.accepted;
  made.slope = slope_of(of);
}

}  // namespace

std::string hash_of_ids(const std::vector<int64_t>& ids) { return hash_bytes(fmt::format("{}", fmt::join(ids, " "))); }

std::string hash_of_names(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) all += name + '\0';
  return hash_bytes(all);
}

bool is_of_classes(const Calibration& calibration, const std::vector<std::string>& names,
                   const std::vector<int64_t>& ids) {
  if (!calibration.class_ids.empty() && calibration.class_ids == hash_of_ids(ids)) return true;
  if (calibration.classes != static_cast<int64_t>(names.size())) return false;
  return calibration.names.empty() || calibration.names == hash_of_names(names);
}

std::optional<Calibration> calibration_for(const Method& method, Calibration calibration) {
  if (calibration.method == method.label()) return calibration;
  const MethodSpec& spec = method.spec();
  if (calibration.method != spec.fitted_as || method.label() != spec.name) return std::nullopt;
  calibration.factor = 1;
  return calibration;
}

DoubleVector familiarity(const QueryScores& scores) {
  if (scores.unseen.size() == 0) return scores.logits.rowwise().maxCoeff().cast<double>();
  return log_sum_exp(scores.logits) - scores.unseen.cast<double>();
}

double probability_of_none(const Calibration& calibration, double familiarity) {
  return 1 / (1 + std::exp(calibration.slope * (familiarity - calibration.threshold)));
}

std::string cost_sentence(const Calibration& calibration, const std::string& others) {
  const double refused = 100 * (1 - calibration.accepted);
  std::string text = calibration.images > 0
                         ? fmt::format("{:.0f} of 100 of your own photos are refused", refused)
                         : std::string("at most 5 of 100 of your own photos should be refused, by classes left out");
  if (calibration.unknown > 0)
    text += fmt::format("; {:.0f} of 100 of {} pass", 100 * calibration.false_accept, others);
  return text;
}

std::string exchange_sentence(const Calibration& calibration) {
  std::string text;
  for (const Exchange& exchange : calibration.exchange) {
    if (std::find(kShownRates.begin(), kShownRates.end(), exchange.false_accept) == kShownRates.end()) continue;
    text += text.empty() ? fmt::format("at {:g} % false accepts, {:.0f} % of your own photos are kept",
                                       100 * exchange.false_accept, 100 * exchange.accepted)
                         : fmt::format("; at {:g} %: {:.0f} %", 100 * exchange.false_accept, 100 * exchange.accepted);
  }
  return text;
}

std::string warning_of_few_kept(const Calibration& calibration) {
  constexpr double kFew = 0.6;
  if (calibration.accepted >= kFew) return "";
  return fmt::format(
      "about {:.0f} % of your own photos will be called 'none of these': {}enrol more photos of each class, or give "
      "images of other things (others)",
      100 * (1 - calibration.accepted), calibration.balanced ? "" : "request a higher rate, ");
}

Calibration calibrate(const ClassScorer& scorer, const Array& others, const CalibrationOptions& options,
                      Progress& progress) {
  const double rate = options.false_accept.value_or(0.5);
  if (!(rate > 0 && rate < 1)) fail_usage("false-accept rate: expected a number between 0 and 1, found {}", rate);
  const bool of_own = is_of_own(others, options);
  const LeftOutScores own = hold_images_out(scorer, options.most_images, progress);
  const auto held_out = static_cast<int64_t>(own.truth.size());
  if (held_out == 0 && !of_own) fail("cannot calibrate: no class has two images (a burst counts once): enrol more");
  const bool stands_alone = held_out >= kFewestHeldOut && (options.threshold_alone || scorer.class_names().size() < 2);
  const Familiarities of =
      of_own && stands_alone ? Familiarities{own.familiarity, {}} : with_others(scorer, own, others, options, progress);
  Calibration made;
  made.method = scorer.method().label();
  made.images = held_out;
  if (of_own)
    take_own_threshold(of, made);
  else
    take_threshold(of, options, made);
  if (made.images > 0 && !options.threshold_alone) made.factor = fit_factor(own);
  if (of.has_others() && held_out > 0) made.exchange = exchanges_of(of);
  if (made.images > 0) made.accuracy = accuracy_of(own);
  made.unknown = of.others.size();
  made.of_others = others.defined();
  made.classes = static_cast<int64_t>(scorer.class_names().size());
  made.names = hash_of_names(scorer.class_names());
  return made;
}

}  // namespace protocom
