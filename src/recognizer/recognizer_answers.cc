// A recognizer's answers, for features and for images.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/feature_values.h"
#include "base/log.h"
#include "base/text.h"
#include "encoders/embed.h"
#include "images/image_region.h"
#include "io/files.h"
#include "recognizer/class_groups.h"
#include "recognizer/class_sets.h"
#include "recognizer/detail/best_classes.h"
#include "recognizer/detail/left_out_answers.h"
#include "recognizer/detail/nearest_examples.h"
#include "recognizer/recognizer.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// Warns if a method that expects balanced queries gets others: classified one by one, most are of one class.
void warn_of_proportions(const ClassScorer& scorer, const EnrolledClasses& enrolled, const StoreModel& model,
                         const Array& features) {
  const MethodSpec& spec = scorer.method().spec();
  if (features.size(0) < 4 || spec.assumes != Assumes::kBalancedQueries) return;
  const ClassScorer alone(enrolled, model, {model.default_method()});
  const FloatMatrix logits = alone.score(features).logits;
  const auto images = static_cast<size_t>(logits.rows());
  std::map<std::string, double> share;
  for (int64_t i = 0; i < logits.rows(); ++i) {
    const auto best = static_cast<size_t>(best_classes(logits.row(i).data(), logits.cols(), 1).front());
    share[alone.class_names()[best]] += 100.0 / static_cast<double>(images);
  }
  const auto most =
      std::max_element(share.begin(), share.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const double expected = 100.0 / static_cast<double>(std::min(enrolled.classes.size(), images));
  if (most->second < 2 * expected) return;
  logger().warn(
      "classified independently, {:.0f} % of the {} images are '{}', but {} assumes about {:.0f} % of each class and "
      "is less accurate otherwise: do not classify them together",
      most->second, images, most->first, scorer.method().label(), expected);
}

/// Returns the rank, from 1, of value `own` among a row's values [c], in the order of best_classes.
int64_t rank_of(const float* values, int64_t count, int64_t own) {
  int64_t rank = 1;
  for (int64_t k = 0; k < count; ++k) rank += values[k] > values[own] || (values[k] == values[own] && k < own) ? 1 : 0;
  return rank;
}

}  // namespace

/// Returns the attributes that changed the logit of class `answer` most for a feature [1, d].
std::vector<AttributeEffect> Recognizer::attribute_effects_of(int64_t answer, const Array& feature) const {
  if (options_.attributes < 1) return {};
  const std::vector<float> effects = scorer_->attribute_effects(answer, feature);  // [a]
  const double factor = calibration_ ? calibration_->factor : 1.0;
  std::vector<size_t> order(effects.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::abs(effects[a]) > std::abs(effects[b]); });
  order.resize(std::min(order.size(), static_cast<size_t>(options_.attributes)));
  std::vector<AttributeEffect> telling;
  for (const size_t a : order) {
    const double effect = factor * static_cast<double>(effects[a]);
    const std::string& name = snapshot_.enrolled.attributes[a];
    if (effect != 0) telling.push_back({name, file_.settings().word_for(name), effect});
  }
  return telling;
}

/// Ranks the classes. `log_sum`: the logarithm of the sum of exp(factor * logits), logits [c]; `best`: the first
/// classes of the ranking.
std::vector<RankedClass> Recognizer::ranking_of(const float* logits, double factor, double log_sum,
                                                const std::vector<int64_t>& best) const {
  std::vector<RankedClass> ranking;
  for (const int64_t k : best) {
    if (static_cast<int64_t>(ranking.size()) == options_.top) break;
    const double log_share = factor * static_cast<double>(logits[k]) - log_sum;
    ranking.push_back({scorer_->class_names()[static_cast<size_t>(k)], std::min(1.0, std::exp(log_share))});
  }
  return ranking;
}

/// Sets the probability of none of the classes, which reduces the others.
void Recognizer::take_none(double familiarity, Answer& answer) const {
  const double none = probability_of_none(*calibration_, familiarity);
  for (RankedClass& ranked_class : answer.ranking) ranked_class.probability *= 1 - none;
  answer.none = none;
  answer.none_of_these = none >= 0.5;
}

const std::vector<double>& Recognizer::left_out_probabilities(Progress& progress) {
  refresh();
  if (left_out_) return *left_out_;
  if (scorer_->method().spec().sees == Sees::kAllQueries)
    fail_usage("a coverage needs a method that classifies images independently: do not classify them together");
  const LeftOutAnswers answers = leave_moments_out(*scorer_, calibration_ ? calibration_->factor : 1.0, progress);
  left_out_.emplace();
  for (int64_t i = 0; i < answers.count(); ++i) left_out_->push_back(answers.own(i));
  return *left_out_;
}

/// Returns the most probable class and those whose probability reaches the bound, most probable first.
std::vector<std::string> Recognizer::set_of(const float* logits, double factor, double log_sum, double least) const {
  std::vector<std::string> set;
  const auto all = static_cast<int64_t>(scorer_->class_names().size());
  for (const int64_t k : best_classes(logits, all, all)) {
    if (!set.empty() && std::exp(factor * static_cast<double>(logits[k]) - log_sum) < least) break;
    set.push_back(scorer_->class_names()[static_cast<size_t>(k)]);
  }
  return set;
}

/// Returns the group if the first class is less probable than `roll_up`; nothing for an answer "none of these".
std::optional<RankedClass> Recognizer::group_of(const float* logits, double factor, double log_sum,
                                                const Answer& answer, double roll_up) const {
  const bool sure = answer.ranking.front().probability >= roll_up;
  if (sure || answer.none_of_these.value_or(false)) return std::nullopt;
  const auto classes = static_cast<int64_t>(levels_.size());
  const Eigen::Map<const Eigen::VectorXf> row(logits, classes);
  const Eigen::VectorXd shares = (factor * row.cast<double>().array() - log_sum).exp() * (1 - answer.none.value_or(0));
  return probable_group(levels_, shares, best_classes(logits, classes, 1).front(), roll_up);
}

/// Takes the levels from the titles if these have any, else from the names.
void Recognizer::find_levels() {
  constexpr size_t kShown = 5;
  if (levels_.size() == snapshot_.enrolled.classes.size()) return;
  const std::map<std::string, std::string> groups = composed_groups(options_.groups);
  std::vector<std::vector<std::string>> levels;
  std::vector<std::string> others;
  for (const StoredClass& one : snapshot_.enrolled.classes) {
    const auto found = groups.find(one.name);
    if (found == groups.end()) others.push_back(one.name);
    levels.push_back(found == groups.end() ? own_levels(one.name, one.description.title)
                                           : grouped_levels(one.name, found->second));
  }
  if (!groups.empty() && others.size() == levels.size())
    fail("groups: expected groups of the recognizer's classes, such as '{}', found only those of others, such as '{}'",
         excerpt(others.front()), excerpt(groups.begin()->first));
  if (!groups.empty() && !others.empty())
    logger().warn("groups: none is stated for {} of {} classes: {}", others.size(), levels.size(),
                  first_of(others, kShown));
  levels_ = std::move(levels);
}

Recognizer::Scored Recognizer::scored(const Array& features) {
  warn_of_other_classes();
  warn_of_one_class();
  QueryScores scores = scorer_->score(features);
  Scored made;
  made.factor = calibration_ ? calibration_->factor : 1.0;
  made.has_threshold = calibration_ && (calibration_->method == scorer_->method().label() || scores.unseen.size() > 0);
  made.familiar = familiarity(scores);
  // Against an unseen class, the familiarity contains the sum that probabilities are divided by.
  const bool summed = made.factor == 1 && scores.unseen.size() > 0;
  made.log_sums =
      summed ? DoubleVector(made.familiar + scores.unseen.cast<double>()) : log_sum_exp(scores.logits, made.factor);
  if (!std::isfinite(made.log_sums.sum()) || !std::isfinite(made.familiar.sum()))
    fail("{}: the scores are not finite: an image's features, or numbers in the file, are too large",
         file_.path().string());
  made.logits = std::move(scores.logits);
  return made;
}

std::vector<Answer> Recognizer::answers_of(const Array& features, Asked asked) {
  if (options_.coverage && !asked.least_of_set)
    asked.least_of_set = least_probability_for(left_out_probabilities(), *options_.coverage);
  if (!asked.roll_up) asked.roll_up = options_.roll_up;
  if (asked.roll_up && !(*asked.roll_up > 0 && *asked.roll_up < 1))
    fail_usage("roll_up: expected a number between 0 and 1, found {}", *asked.roll_up);
  if (asked.roll_up) find_levels();
  const Scored scores = scored(features);
  const FloatMatrix& logits = scores.logits;
  std::vector<std::vector<int64_t>> best;
  const int64_t most = options_.nearest > 0 ? std::max(options_.top, kClassesToLookAt) : options_.top;
  for (int64_t i = 0; i < logits.rows(); ++i) best.push_back(best_classes(logits.row(i).data(), logits.cols(), most));
  auto nearest = nearest_->find(snapshot_, *scorer_, best, features, options_.nearest);
  std::vector<Answer> answers;
  for (size_t i = 0; i < best.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    Answer answer;
    answer.ranking = ranking_of(logits.row(row).data(), scores.factor, scores.log_sums[row], best[i]);
    if (asked.least_of_set)
      answer.set = set_of(logits.row(row).data(), scores.factor, scores.log_sums[row], *asked.least_of_set);
    answer.familiarity = scores.familiar[row];
    answer.attributes = attribute_effects_of(best[i].front(), features.rows(row, row + 1));
    answer.nearest = std::move(nearest[i]);
    const StoredClass& first = snapshot_.enrolled.classes[static_cast<size_t>(best[i].front())];
    answer.nearest_note = note_on_nearest(first, answer.nearest);
    if (scores.has_threshold) take_none(answer.familiarity, answer);
    if (asked.roll_up)
      answer.group = group_of(logits.row(row).data(), scores.factor, scores.log_sums[row], answer, *asked.roll_up);
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<Answer> Recognizer::classify_features(const Array& features, const Asked& asked) {
  check_features(features, "the features");
  refresh();
  return answers_of(features, asked);
}

std::vector<TestedImage> Recognizer::judge(const Array& features, const std::vector<std::string>& right) {
  check_features(features, "the features");
  refresh();
  const Scored scores = scored(features);
  const std::vector<std::string>& names = scorer_->class_names();
  std::map<std::string, int64_t> places;
  for (size_t k = 0; k < names.size(); ++k) places[names[k]] = static_cast<int64_t>(k);
  std::vector<TestedImage> judged(right.size());
  for (size_t i = 0; i < right.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const float* logits = scores.logits.row(row).data();
    const auto log_share = [&](int64_t k) { return scores.factor * double{logits[k]} - scores.log_sums[row]; };
    const int64_t best = best_classes(logits, scores.logits.cols(), 1).front();
    const auto own = places.find(right[i]);
    TestedImage& image = judged[i];
    image.class_name = right[i];
    image.answer = names[static_cast<size_t>(best)];
    image.certainty = std::min(1.0, std::exp(log_share(best)));
    if (scores.has_threshold) image.none = probability_of_none(*calibration_, scores.familiar[row]);
    image.known = own != places.end();
    if (!image.known) continue;
    image.rank = rank_of(logits, scores.logits.cols(), own->second);
    image.loss = std::max(0.0, -log_share(own->second));
  }
  return judged;
}

DoubleMatrix Recognizer::probabilities(const Array& features) {
  check_features(features, "the features");
  refresh();
  const Scored scores = scored(features);
  DoubleMatrix made = scores.factor * scores.logits.cast<double>();
  made.colwise() -= scores.log_sums;
  return made.array().exp().cwiseMin(1.0);
}

Answer Recognizer::classify(const fs::path& image) {
  refresh();
  const Preprocessing& sizes = file_.settings().preprocessing;
  const Image square = reading(image, [&] { return read_region(image, sizes).image; });
  return answers_of(extract_square_features(backbone(), {square}, extract_options())).front();
}

std::vector<UnreadableFile> Recognizer::classify(const std::vector<fs::path>& images, const TakeAnswer& take,
                                                 Progress& progress) {
  return classify(images, AnswerTakers{take, [](const Array&) {}}, progress);
}

std::vector<UnreadableFile> Recognizer::classify(const std::vector<fs::path>& images, const AnswerTakers& take,
                                                 Progress& progress) {
  refresh();
  const auto give = [&](const EmbeddedFiles& files, const std::vector<Answer>& answers) {
    if (!answers.empty()) take.features(files.features);
    for (size_t i = 0; i < answers.size(); ++i) take.answer(files.numbers[i], answers[i]);
  };
  if (scorer_->method().spec().sees == Sees::kAllQueries) {
    const EmbeddedFiles files = embed_files(backbone(), images, extract_options(), progress);
    give(files, classify_together(files.features));
    return files.unreadable;
  }
  std::vector<UnreadableFile> unreadable;
  const auto take_batch = [&](EmbeddedBatch&& batch) {
    if (!batch.numbers.empty()) give(batch, answers_of(batch.features));
    unreadable.insert(unreadable.end(), batch.unreadable.begin(), batch.unreadable.end());
  };
  embed_batches(backbone(), images, extract_options(), take_batch, progress);
  return unreadable;
}

std::vector<Answer> Recognizer::classify_together(const Array& features) {
  refresh();
  if (features.size(0) == 0) return {};
  if (scorer_->method().spec().sees == Sees::kAllQueries)
    warn_of_proportions(*scorer_, snapshot_.enrolled, *model_, features);
  return answers_of(features);
}

}  // namespace protocom
