#include "recognizer/recognizer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "encoders/embed.h"
#include "recognizer/detail/nearest_examples.h"
#include "recognizer/detail/recognizer_index.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// Warns if a method was fitted for another number of images per class than are enrolled.
void warn_of_other_shots(const Method& method, const EnrolledClasses& enrolled) {
  const auto [fewest, most] =
      std::minmax_element(enrolled.classes.begin(), enrolled.classes.end(),
                          [](const StoredClass& a, const StoredClass& b) { return a.count < b.count; });
  const std::string warning = warning_of_other_shots(method, {fewest->count, most->count});
  if (!warning.empty()) logger().warn("{}", warning);
}

/// Chooses the method from the options. Shares, and proportions, need a method that classifies images together: the
/// recognizer's own transductive one unless the options name a method.
void choose_method(const StoreModel& model, RecognizerOptions& options) {
  const bool names_method = !options.method.empty();
  if (!options.shares.empty() && options.proportions.empty() && !names_method) options.proportions = "given";
  if ((options.proportions == "given") == options.shares.empty() && !names_method)
    fail_usage("shares and the proportions 'given' must be used together");
  if (names_method) {
    const bool takes_shares = options.method.find("proportions=given") != std::string::npos;
    if (!options.shares.empty() && !takes_shares)
      fail_usage("shares: the method '{}' ignores them, expected one with proportions=given", options.method);
    return;
  }
  if (!options.proportions.empty()) options.together = true;
  options.method = options.together ? model.transductive_method() : model.default_method();
  if (!options.proportions.empty()) options.method += ":proportions=" + options.proportions;
}

}  // namespace

Recognizer::Recognizer(RecognizerFile file, RecognizerOptions options)
    : file_(std::move(file)),
      options_(std::move(options)),
      model_(std::make_unique<const StoreModel>(read_store_model(file_))),
      nearest_(std::make_unique<NearestExamples>()) {
  choose_method(*model_, options_);
  make_method(options_.method);  // fails for a wrong name before images are read
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
  left_out_.reset();
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
    fail_usage("'{}' cannot be indexed, as it compares all classes jointly: fit a method (protocom fit, --fitted)",
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

/// Starts from the classes in the index beside the recognizer, if there is one.
void Recognizer::use_index() {
  auto index = read_index(file_, make_method(options_.method)->label());
  if (!index) return;
  file_.state_moments(index->snapshot);
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

/// Updates to the classes now in the file.
void Recognizer::refresh() {
  if (scorer_ != nullptr && snapshot_.revision == file_.revision()) return;
  if (scorer_ == nullptr && snapshot_.class_ids.empty()) use_index();
  auto scorer = std::move(scorer_);  // must not be used again if something throws
  const std::vector<int64_t> before = file_.refresh(snapshot_);
  if (scorer != nullptr) {
    scorer->update(snapshot_.enrolled, before);
  } else {
    scorer = std::make_unique<ClassScorer>(snapshot_.enrolled, *model_, scorer_options());
    warn_of_other_shots(scorer->method(), snapshot_.enrolled);
  }
  nearest_->update(*scorer, before);
  calibration_.reset();
  left_out_.reset();
  levels_.clear();
  if (snapshot_.calibration)
    calibration_ = calibration_for(scorer->method(), calibration_from(*snapshot_.calibration, file_.path().string()));
  scorer_ = std::move(scorer);
}

/// Warns once if the calibration was made with other classes: its threshold may accept more or fewer unknown images.
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

AnswerFormula Recognizer::formula() {
  refresh();
  warn_of_other_classes();
  warn_of_one_class();
  std::optional<AnswerFormula> found = scorer_->formula();
  if (found) return *std::move(found);
  const Method& method = scorer_->method();
  fail_usage("'{}' cannot be exported: it {}; use {}", method.label(),
             method.spec().sees == Sees::kAllQueries ? "classifies all images jointly"
                                                     : "needs all labelled images for each answer",
             model_->completion ? "'mean', 'completed' or 'mean-fusion'" : "'plda' or 'mean'");
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

Array Recognizer::features_of(const std::vector<Image>& images) {
  return extract_square_features(backbone(), images, extract_options());
}

}  // namespace protocom
