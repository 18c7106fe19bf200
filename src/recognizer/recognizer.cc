#include "recognizer/recognizer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/feature_values.h"
#include "base/log.h"
#include "encoders/embed.h"
#include "images/image_region.h"
#include "io/files.h"
#include "recognizer/class_groups.h"
#include "recognizer/detail/best_classes.h"
#include "recognizer/detail/class_sets.h"
#include "recognizer/detail/nearest_examples.h"
#include "recognizer/detail/recognizer_index.h"
#include "recognizer/label_check.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

StoreModel read_model(const RecognizerFile& file) {
  StoreModel model;
  const char* name = file.artefact("fitted") != nullptr ? "fitted" : "model";
  file.read_artefact(name, [&](const fs::path& path) { model = read_store_model(path); });
  return model;
}

/// Says once that a method was fitted for classes of another number of images than are enrolled.
void warn_of_other_shots(const Method& method, const EnrolledClasses& enrolled) {
  const auto [fewest, most] =
      std::minmax_element(enrolled.classes.begin(), enrolled.classes.end(),
                          [](const StoredClass& a, const StoredClass& b) { return a.count < b.count; });
  const std::string warning = warning_of_other_shots(method, {fewest->count, most->count});
  if (!warning.empty()) logger().warn("{}", warning);
}

/// Of a method that expects balanced queries and is given others: judged alone, most are of one class.
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
      "is less accurate otherwise: leave out --batch-together",
      most->second, images, most->first, scorer.method().label(), expected);
}

/// Least number of photos for the threshold that is set without calibrating.
constexpr int64_t kFewestFirstPhotos = 10;

/// Of one of a row's values [c] among all, from 1 on, in the order of best_classes.
int64_t rank_of(const float* values, int64_t count, int64_t own) {
  int64_t rank = 1;
  for (int64_t k = 0; k < count; ++k) rank += values[k] > values[own] || (values[k] == values[own] && k < own) ? 1 : 0;
  return rank;
}

}  // namespace

Recognizer::Recognizer(RecognizerFile file, RecognizerOptions options)
    : file_(std::move(file)),
      options_(std::move(options)),
      model_(std::make_unique<const StoreModel>(read_model(file_))),
      nearest_(std::make_unique<NearestExamples>()) {
  if (options_.method.empty() && options_.together) {
    options_.method = model_->transductive_method();
    if (!options_.proportions.empty()) options_.method += ":proportions=" + options_.proportions;
  }
  if (options_.method.empty()) options_.method = model_->default_method();
  make_method(options_.method);  // a wrong name is said before images are read
}

Recognizer Recognizer::open(const fs::path& path, const RecognizerOptions& options) {
  return {RecognizerFile(path, options.use, options.patience), options};
}

ExtractOptions Recognizer::extract_options() const {
  ExtractOptions extract;
  extract.batch = options_.batch;
  extract.device = options_.device;
  return extract;
}

void Recognizer::follow() {
  if (!file_.follow()) return;
  snapshot_ = {};
  scorer_.reset();
  calibration_.reset();
  least_of_set_.reset();
  levels_.clear();
}

Recognizer::~Recognizer() = default;
Recognizer::Recognizer(Recognizer&&) noexcept = default;
Recognizer& Recognizer::operator=(Recognizer&&) noexcept = default;

const Method& Recognizer::method() {
  refresh();
  return scorer_->method();
}

const std::optional<Calibration>& Recognizer::calibration() {
  refresh();
  return calibration_;
}

fs::path Recognizer::write_index() {
  refresh();
  if (scorer_->adapts() || scorer_->placed().empty())
    fail_usage("cannot be indexed: '{}' compares all classes jointly: fit a method (protocom fit, --fitted)",
               scorer_->method().label());
  protocom::write_index(file_, make_method(options_.method)->label(), {snapshot_, scorer_->placed()});
  return index_path(file_.path());
}

ClassScorerOptions Recognizer::scorer_options() const {
  ClassScorerOptions options;
  options.method = options_.method;
  options.shares = options_.shares;
  options.moments = file_.settings().moments;
  return options;
}

/// Begins with the classes as they were when the file beside the recognizer was made, if there is one.
void Recognizer::use_index() {
  auto index = read_index(file_, make_method(options_.method)->label());
  if (!index) return;
  try {
    ClassScorerOptions options = scorer_options();
    options.placed = index->placed;
    scorer_ = std::make_unique<ClassScorer>(index->snapshot.enrolled, *model_, options);
  } catch (const Error& error) {
    logger().warn("ignoring {}: {}", index_path(file_.path()).string(), error.what());
    return;
  }
  snapshot_ = std::move(index->snapshot);
  nearest_->update(*scorer_, std::vector<int64_t>(snapshot_.class_ids.size(), -1));
}

/// Takes the classes as they are in the file now.
void Recognizer::refresh() {
  if (scorer_ != nullptr && snapshot_.revision == file_.revision()) return;
  if (scorer_ == nullptr && snapshot_.class_ids.empty()) use_index();
  auto scorer = std::move(scorer_);  // of no more use when something throws
  const std::vector<int64_t> before = file_.refresh(snapshot_);
  if (scorer != nullptr) {
    scorer->update(snapshot_.enrolled, before);
  } else {
    scorer = std::make_unique<ClassScorer>(snapshot_.enrolled, *model_, scorer_options());
    warn_of_other_shots(scorer->method(), snapshot_.enrolled);
  }
  nearest_->update(*scorer, before);
  calibration_.reset();
  least_of_set_.reset();
  levels_.clear();
  if (snapshot_.calibration)
    calibration_ = calibration_for(scorer->method(), calibration_from(*snapshot_.calibration, file_.path().string()));
  scorer_ = std::move(scorer);
}

/// Says once that the calibration was made with other classes: its threshold may accept more or fewer images
/// of none of them.
void Recognizer::warn_of_other_classes() {
  if (warned_ || !calibration_ || is_of_classes(*calibration_, scorer_->class_names(), snapshot_.class_ids)) return;
  warned_ = true;
  logger().warn(
      "the calibration was made with {} classes, different from the {} enrolled now, so probabilities and 'none of "
      "these' may be wrong: calibrate again (protocom calibrate {})",
      calibration_->classes, scorer_->class_names().size(), file_.path().string());
}

void Recognizer::warn_of_one_class() {
  if (warned_of_one_ || scorer_->class_names().size() != 1) return;
  warned_of_one_ = true;
  logger().warn("'{}' is the only class and therefore every answer: enrol another class",
                excerpt(scorer_->class_names().front()));
}

Encoder& Recognizer::backbone() {
  if (backbone_ != nullptr) return *backbone_;
  EncoderFileOptions stated;
  stated.preprocessing = file_.settings().preprocessing;
  file_.read_artefact("backbone", [&](const fs::path& path) { backbone_ = open_encoder(path, stated); });
  if (backbone_->dim() != file_.settings().feature_dim)
    fail("{}: its backbone gives features of {} dimensions, expected {}", file_.path().string(), backbone_->dim(),
         file_.settings().feature_dim);
  freeze_for(*backbone_, extract_options());
  return *backbone_;
}

/// Of the class that a feature [1, d] is taken for.
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

/// `logits` [c] with the logarithm of the sum of exp(factor * logits); `best`: the first of the ranking.
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

/// The chance of none of the classes, which the others give up.
void Recognizer::take_none(double familiarity, Answer& answer) const {
  const double none = probability_of_none(*calibration_, familiarity);
  for (RankedClass& ranked_class : answer.ranking) ranked_class.probability *= 1 - none;
  answer.none = none;
  answer.none_of_these = none >= 0.5;
}

/// Once for the classes as they are: leaving their photos out takes as long as expected_accuracy().
void Recognizer::find_least_of_set() {
  if (!options_.coverage || least_of_set_) return;
  if (scorer_->method().spec().sees == Sees::kAllQueries)
    fail_usage("a coverage needs a method that classifies images independently: leave out --batch-together");
  const double factor = calibration_ ? calibration_->factor : 1.0;
  least_of_set_ = least_probability_for(leave_moments_out(*scorer_, factor, Progress::none()), *options_.coverage);
}

/// The most probable class and those whose probability reaches the bound, most probable first.
std::vector<std::string> Recognizer::set_of(const float* logits, double factor, double log_sum) const {
  std::vector<std::string> set;
  if (!least_of_set_) return set;
  const auto all = static_cast<int64_t>(scorer_->class_names().size());
  for (const int64_t k : best_classes(logits, all, all)) {
    if (!set.empty() && std::exp(factor * static_cast<double>(logits[k]) - log_sum) < *least_of_set_) break;
    set.push_back(scorer_->class_names()[static_cast<size_t>(k)]);
  }
  return set;
}

/// The group if the first class is less probable than `roll_up`; nothing for an answer "none of these".
std::optional<RankedClass> Recognizer::group_of(const float* logits, double factor, double log_sum,
                                                const Answer& answer) const {
  const bool sure = !options_.roll_up || answer.ranking.front().probability >= *options_.roll_up;
  if (sure || answer.none_of_these.value_or(false)) return std::nullopt;
  const auto classes = static_cast<int64_t>(levels_.size());
  const Eigen::Map<const Eigen::VectorXf> row(logits, classes);
  const Eigen::VectorXd shares = (factor * row.cast<double>().array() - log_sum).exp() * (1 - answer.none.value_or(0));
  return probable_group(levels_, shares, best_classes(logits, classes, 1).front(), *options_.roll_up);
}

/// Titles say more than names where they have levels.
void Recognizer::find_levels() {
  if (options_.roll_up && !(*options_.roll_up > 0 && *options_.roll_up < 1))
    fail_usage("roll_up: expected a number between 0 and 1, found {}", *options_.roll_up);
  if (!options_.roll_up || levels_.size() == snapshot_.enrolled.classes.size()) return;
  levels_.clear();
  for (const StoredClass& one : snapshot_.enrolled.classes) {
    const std::vector<std::string> titled = class_levels(one.description.title);
    levels_.push_back(titled.size() > 1 ? titled : class_levels(one.name));
  }
}

Recognizer::Scored Recognizer::scored(const Array& features) {
  warn_of_other_classes();
  warn_of_one_class();
  QueryScores scores = scorer_->score(features);
  Scored made;
  made.factor = calibration_ ? calibration_->factor : 1.0;
  made.has_threshold = calibration_ && (calibration_->method == scorer_->method().label() || scores.unseen.size() > 0);
  made.familiar = familiarity(scores);
  // Against a class never seen the familiarity holds the sum that probabilities are divided by.
  const bool summed = made.factor == 1 && scores.unseen.size() > 0;
  made.log_sums =
      summed ? DoubleVector(made.familiar + scores.unseen.cast<double>()) : log_sum_exp(scores.logits, made.factor);
  if (!std::isfinite(made.log_sums.sum()) || !std::isfinite(made.familiar.sum()))
    fail("{}: the scores are not finite: an image's features, or numbers in the file, are too large",
         file_.path().string());
  made.logits = std::move(scores.logits);
  return made;
}

std::vector<Answer> Recognizer::answers_of(const Array& features) {
  find_least_of_set();
  find_levels();
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
    answer.set = set_of(logits.row(row).data(), scores.factor, scores.log_sums[row]);
    answer.familiarity = scores.familiar[row];
    answer.attributes = attribute_effects_of(best[i].front(), features.rows(row, row + 1));
    answer.nearest = std::move(nearest[i]);
    answer.nearest_note = note_on_nearest(snapshot_, answer.ranking.front().name, answer.nearest);
    if (scores.has_threshold) take_none(answer.familiarity, answer);
    answer.group = group_of(logits.row(row).data(), scores.factor, scores.log_sums[row], answer);
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<Answer> Recognizer::classify_features(const Array& features) {
  check_features(features, "the features");
  refresh();
  return answers_of(features);
}

AnswerFormula Recognizer::formula() {
  refresh();
  warn_of_other_classes();
  warn_of_one_class();
  std::optional<AnswerFormula> found = scorer_->formula();
  if (found) return *std::move(found);
  const Method& method = scorer_->method();
  fail_usage("'{}' cannot be exported: it {}; use 'plda', 'mean', 'completed' or 'mean-fusion'", method.label(),
             method.spec().sees == Sees::kAllQueries ? "classifies all images jointly"
                                                     : "needs all labelled images for each answer");
}

std::vector<std::string> Recognizer::class_titles() {
  refresh();
  std::vector<std::string> titles;
  for (const StoredClass& one : snapshot_.enrolled.classes) titles.push_back(one.description.title);
  return titles;
}

const std::vector<std::string>& Recognizer::class_names() {
  refresh();
  return scorer_->class_names();
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

LabelCheck Recognizer::check_labels(Progress& progress) {
  refresh();
  LabelCheck check = protocom::check_labels(*scorer_, snapshot_, calibration_ ? calibration_->factor : 1.0, progress);
  check.shared = images_in_two_classes(file_, snapshot_);
  return check;
}

Array Recognizer::features_of(const std::vector<Image>& images) {
  return extract_square_features(backbone(), images, extract_options());
}

Answer Recognizer::classify(const fs::path& image) {
  refresh();
  const Preprocessing& sizes = file_.settings().preprocessing;
  const Image square = reading(image, [&] { return read_region(image, sizes).image; });
  return answers_of(extract_square_features(backbone(), {square}, extract_options())).front();
}

std::vector<UnreadableFile> Recognizer::classify(const std::vector<fs::path>& images, const TakeAnswer& take,
                                                 Progress& progress) {
  refresh();
  const auto give = [&](const EmbeddedFiles& files, const std::vector<Answer>& answers) {
    for (size_t i = 0; i < answers.size(); ++i) take(files.paths[i], answers[i]);
  };
  if (scorer_->method().spec().sees == Sees::kAllQueries) {
    const EmbeddedFiles files = embed_files(backbone(), images, extract_options(), progress);
    give(files, classify_together(files.features));
    return files.unreadable;
  }
  std::vector<UnreadableFile> unreadable;
  const auto take_batch = [&](EmbeddedBatch&& batch) {
    if (!batch.paths.empty()) give(batch, answers_of(batch.features));
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

ExpectedAccuracy Recognizer::expected_accuracy(Progress& progress) {
  refresh();
  ExpectedAccuracy expected = protocom::expected_accuracy(*scorer_, progress);
  const std::vector<std::string>& names = scorer_->class_names();
  for (LeftOutMistake& mistake : expected.mistakes) {
    const auto own = static_cast<size_t>(std::find(names.begin(), names.end(), mistake.class_name) - names.begin());
    mistake.example = snapshot_.examples[own][static_cast<size_t>(mistake.image)].id;
  }
  return expected;
}

std::vector<LeftOutPhoto> Recognizer::left_out_photos() {
  refresh();
  std::vector<LeftOutPhoto> photos;
  for (const LeftOutImage& one : left_out_images(*scorer_)) {
    const KeptExample& kept = snapshot_.examples[static_cast<size_t>(one.own)][static_cast<size_t>(one.image)];
    photos.push_back({one, kept.source, file_.example(kept.id).hash});
  }
  return photos;
}

LeftOutComparison Recognizer::compare_left_out(const std::vector<LeftOutPhoto>& photos, const Array& others) {
  refresh();
  std::vector<LeftOutImage> images;
  for (const LeftOutPhoto& one : photos) images.push_back(one.place);
  return protocom::compare_left_out(*scorer_, images, others);
}

Calibration Recognizer::calibrate(const std::vector<fs::path>& others, const CalibrationOptions& options,
                                  Progress& progress, std::vector<UnreadableFile>* unreadable) {
  if (others.empty()) return calibrate_on({}, options, progress);
  refresh();
  const EmbeddedFiles files = embed_files(backbone(), others, extract_options(), progress);
  if (!files.unreadable.empty() && (unreadable == nullptr || files.paths.empty()))
    fail("{}", files.unreadable.front().reason);
  if (unreadable != nullptr) *unreadable = files.unreadable;
  return calibrate_on(files.features, options, progress);
}

std::optional<Calibration> Recognizer::take_first_threshold(const std::vector<fs::path>& others, Progress& progress) {
  CalibrationOptions options;
  options.threshold_alone = true;
  options.most_classes = 50;
  refresh();
  int64_t photos = 0;
  for (size_t k = 0; k < scorer_->class_names().size(); ++k) photos += scorer_->count(static_cast<int64_t>(k));
  if (others.empty() && photos < kFewestFirstPhotos) return std::nullopt;
  std::vector<UnreadableFile> unreadable;
  try {
    return calibrate(others, options, progress, &unreadable);
  } catch (const Error& error) {
    if (!others.empty()) logger().warn("ignoring the photos of other things: {}", error.what());
    return std::nullopt;
  }
}

Calibration Recognizer::calibrate_on(const Array& others, const CalibrationOptions& options, Progress& progress) {
  refresh();
  Calibration made = protocom::calibrate(*scorer_, others, options, progress);
  made.class_ids = hash_of_ids(snapshot_.class_ids);
  if (options.threshold_alone)
    file_.set_calibration_with_last_change(to_json(made));
  else
    file_.set_calibration(to_json(made));
  return made;
}

}  // namespace protocom
