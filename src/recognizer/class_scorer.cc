#include "recognizer/class_scorer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/near_matches.h"
#include "fewshot/paper/completion_model.h"
#include "recognizer/detail/enrolled_images.h"

namespace protocom {
namespace {

int64_t size_of(const EnrolledClasses& enrolled) { return static_cast<int64_t>(enrolled.classes.size()); }

void check_images(const EnrolledClasses& enrolled, int64_t fewest) {
  if (enrolled.classes.empty()) throw MissingImages("no class is enrolled: enrol one first");
  for (const StoredClass& stored_class : enrolled.classes) {
    if (stored_class.count < fewest)
      throw MissingImages(fmt::format("class '{}' has no image: enrol one, or remove the class", stored_class.name));
  }
}

void check_dims(int64_t found, int64_t expected, const char* what) {
  if (found != expected)
    fail("{}: expected {} dimensions as in the model, found {} in the enrolled classes", what, found, expected);
}

void check_fits(const EnrolledClasses& enrolled, const StoreModel& model) {
  if (model.attributes() != enrolled.attributes) fail("the model and the enrolled classes have different attributes");
  if (model.fitted) return check_dims(model.fitted->feature_dim, enrolled.feature_dim, "features");
  const ProtoComNetOptions& sizes = model.completion->sizes;
  check_dims(sizes.feature_dim, enrolled.feature_dim, "features");
  check_dims(sizes.embedding_dim, enrolled.classes.front().description.embedding.numel(), "class embeddings");
}

std::shared_ptr<const Method> method_of(const StoreModel& model, const std::string& text) {
  const std::string name = text.empty() ? model.default_method() : text;
  std::vector<FittedMethod> fitted;
  const std::unique_ptr<Method> method = make_method(name);
  check_is_for_recognizers(*method);
  const MethodSpec& spec = method->spec();
  if (spec.has(Need::kCompletionModel) && !model.completion)
    fail_usage(
        "'{}' needs a completion model, which this recognizer was made without (recognizer create --model): use '{}'",
        method->label(), model.default_method());
  if (model.fitted && spec.has(Need::kFitting)) fitted = {*model.fitted};
  return make_methods({name}, fitted).front();
}

/// Adapts the method to the images of all classes that have any; returns no method if it does not adapt.
AdaptedMethod adapted_to(const EnrolledClasses& enrolled, const Method& method) {
  std::vector<Array> features;
  std::vector<int64_t> labels, there;
  for (int64_t k = 0; k < size_of(enrolled); ++k) {
    const Array& own = enrolled.classes[static_cast<size_t>(k)].features;
    if (own.size(0) == 0) continue;
    features.push_back(own);
    labels.insert(labels.end(), static_cast<size_t>(own.size(0)), static_cast<int64_t>(there.size()));
    there.push_back(k);
  }
  if (features.empty()) return {};
  const Array all = Array::joined(features);
  AdaptedMethod made = method.adapted(matrix_of<float>(all), labels, static_cast<int64_t>(there.size()));
  made.unlabelled = made.unlabelled.among(size_of(enrolled), there);
  return made;
}

/// Removes images, given by their indices within the class, from it.
void leave_out(const std::vector<int64_t>& images, StoredClass& from) {
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < from.features.size(0); ++i) {
    if (std::find(images.begin(), images.end(), i) == images.end()) kept.push_back(i);
  }
  if (!from.moments.empty()) from.moments = moments_of(from.moments, kept);
  if (!from.taken.empty()) {
    std::vector<std::optional<double>> taken;
    for (const int64_t i : kept) taken.push_back(from.taken[static_cast<size_t>(i)]);
    from.taken = std::move(taken);
  }
  from.features = from.features.gathered(kept);
  from.count = from.features.size(0);
}

/// Returns the classes without some images of each, given by their indices within the class.
EnrolledClasses without_images(const EnrolledClasses& enrolled, const std::vector<std::vector<int64_t>>& left_out) {
  EnrolledClasses rest = enrolled;
  for (size_t k = 0; k < left_out.size(); ++k) {
    if (!left_out[k].empty()) leave_out(left_out[k], rest.classes[k]);
  }
  return rest;
}

/// Returns each class's share, [c]; classes not named divide the remainder equally.
std::vector<float> shares_of(const std::vector<std::string>& names, const std::map<std::string, double>& written) {
  std::map<std::string, double> given;
  for (const auto& [name, share] : written) given[clean_name(name)] += share;
  double left = 1;
  for (const auto& [name, share] : given) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail_usage("shares: unknown class '{}'{}", name, did_you_mean(name, names));
    if (!(share >= 0)) fail_usage("shares: '{}': expected a number from 0 to 1, found {}", name, share);
    left -= share;
  }
  const auto others = static_cast<double>(names.size() - given.size());
  if (left < -1e-6 || (others == 0 && left > 1e-6))
    fail_usage("the classes' shares sum to {}, expected {}", 1 - left, others == 0 ? "1" : "at most 1");
  std::vector<float> shares;
  for (const std::string& name : names) {
    const auto found = given.find(name);
    shares.push_back(static_cast<float>(found == given.end() ? std::max(left, 0.0) / others : found->second));
  }
  return shares;
}

void check_dim(const Array& features, int64_t dim) {
  if (features.dim() == 2 && features.size(1) == dim) return;
  fail("features: expected [n, {}] like the enrolled ones, found [{}]", dim, fmt::join(features.shape(), ", "));
}

/// Throws Error unless `placed` has `classes` rows wherever `one`, the placement of one class, has one.
void check_placed(const PlacedClasses& placed, const PlacedClasses& one, int64_t classes) {
  bool fits = placed.size() == one.size();
  for (size_t i = 0; fits && i < one.size(); ++i) {
    Shape shape = one[i].shape();
    shape[0] = classes;
    fits = placed[i].type() == one[i].type() && placed[i].shape() == shape;
  }
  if (!fits) fail("its index does not match the method: index the recognizer again (protocom recognizer index)");
}

/// Writes rows [m, ...] over the rows `where` [m] of `to` [n, ...].
void write_rows(const Array& rows, const std::vector<int64_t>& where, Array& to) {
  const size_t each = rows.bytes() / where.size();
  const auto* from = static_cast<const char*>(rows.raw());
  auto* begin = static_cast<char*>(to.mutable_raw());
  for (const int64_t row : where) {
    std::memcpy(begin + static_cast<size_t>(row) * each, from, each);
    from += each;
  }
}

}  // namespace

/// The method prepared for some classes, with the data that it points to.
class ClassScorer::Prepared {
 public:
  Prepared(const EnrolledClasses& enrolled, const StoreModel& model, const Method& method)
      : table_(table_of(enrolled)) {
    MethodContext context;
    if (model.completion) context.model = &*model.completion;
    context.classes = &table_;
    context.knowledge = &table_;
    context.class_names = &table_.classes;
    check_needs(method, context);
    method_ = method.prepare(context);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  [[nodiscard]] const PreparedMethod& method() const { return method_; }
  [[nodiscard]] const ClassPlacer* placer() const { return method_.placer.get(); }

 private:
  KnowledgeTable table_;
  PreparedMethod method_;
};

ClassScorer::ClassScorer(const EnrolledClasses& enrolled, const StoreModel& model, const ClassScorerOptions& options)
    : model_(model), options_(options), unadapted_(method_of(model, options.method)), method_(unadapted_) {
  options_.placed.clear();  // of these classes alone
  if (options.placed.empty()) {
    take_all(enrolled);
    return;
  }
  placed_ = options.placed;
  borrowed_ = true;
  take_placed(enrolled);
  const bool places = prepared_->placer() != nullptr;
  check_placed(placed_, places ? place(with_classes(enrolled, {enrolled.classes.front()})) : PlacedClasses(),
               size_of(enrolled));
}

ClassScorer::~ClassScorer() = default;

void ClassScorer::take_all(const EnrolledClasses& given) {
  check_images(given, method_->spec().fewest_shots);
  check_fits(given, model_);
  const std::shared_ptr<const Method> own =
      options_.unlabelled ? with_unlabelled(unadapted_, given.unlabelled) : protocom::without_unlabelled(unadapted_);
  // Without adaptation each class is encoded independently of the others; moments, which are found from the images of
  // all classes, would make them dependent.
  const bool follows = options_.moments && learns_from_unlabelled(*own);
  const EnrolledClasses enrolled = follows ? with_moments(given) : given;
  const EnrolledClasses counted = follows ? by_moments(enrolled) : given;
  const AdaptedMethod made = adapted_to(counted, *own);
  adapts_ = made.method != nullptr;
  method_ = adapts_ ? made.method : unadapted_;
  unlabelled_ = made.unlabelled;
  borrowed_ = false;
  take_placed(enrolled);
  if (prepared_->placer() != nullptr) {
    placed_ = place(counted);
    return;
  }
  prepared_ = std::make_unique<const Prepared>(enrolled, model_, *method_);
  images_ = with_soft_supports(supports_of(counted, 0, size_of(counted)), unlabelled_)
                .mapped(prepared_->method().space.get());
  if (!options_.shares.empty()) images_.shares = shares_of(names_, options_.shares);
}

/// Takes everything from the classes except their placement: their names, and the method prepared for them.
void ClassScorer::take_placed(const EnrolledClasses& enrolled) {
  check_images(enrolled, method_->spec().fewest_shots);
  check_fits(enrolled, model_);
  enrolled_ = enrolled;
  names_.clear();
  for (const StoredClass& stored_class : enrolled.classes) names_.push_back(stored_class.name);
  prepared_ = std::make_unique<const Prepared>(with_classes(enrolled, {enrolled.classes.front()}), model_, *method_);
}

/// Places classes in batches, so that intermediate results stay small.
PlacedClasses ClassScorer::place(const EnrolledClasses& enrolled) const {
  constexpr int64_t kPiece = 256;
  const Prepared prepared(enrolled, model_, *method_);
  std::vector<std::vector<Array>> pieces;
  for (int64_t k = 0; k < size_of(enrolled); k += kPiece) {
    const int64_t end = std::min(k + kPiece, size_of(enrolled));
    const PlacedClasses placed =
        prepared.placer()->place(with_soft_supports(supports_of(enrolled, k, end), unlabelled_, k));
    pieces.resize(placed.size());
    for (size_t i = 0; i < placed.size(); ++i) pieces[i].push_back(placed[i]);
  }
  PlacedClasses all;
  for (const auto& part : pieces) all.push_back(Array::joined(part));
  return all;
}

void ClassScorer::update(const EnrolledClasses& enrolled, const std::vector<int64_t>& before) {
  if (adapts_ || placed_.empty()) return take_all(enrolled);
  check_images(enrolled, method_->spec().fewest_shots);
  check_fits(enrolled, model_);
  std::vector<StoredClass> changed, classes;
  std::vector<std::string> names;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] < 0) {
      changed.push_back(enrolled.classes[i]);
      classes.push_back(enrolled.classes[i]);
      names.push_back(enrolled.classes[i].name);
    } else {
      classes.push_back(std::move(enrolled_.classes[static_cast<size_t>(before[i])]));
      names.push_back(std::move(names_[static_cast<size_t>(before[i])]));
    }
  }
  enrolled_.classes = std::move(classes);
  names_ = std::move(names);
  replace(changed.empty() ? PlacedClasses() : place(with_classes(enrolled, std::move(changed))), before);
}

/// Overwrites the rows whose `before` is -1 with those of `placed`.
void ClassScorer::replace(const PlacedClasses& placed, const std::vector<int64_t>& before) {
  const int64_t old = placed_.front().size(0);
  std::vector<int64_t> source, where;
  bool stay = static_cast<int64_t>(before.size()) == old;
  for (size_t i = 0; i < before.size(); ++i) {
    const auto own = static_cast<int64_t>(i);
    source.push_back(before[i] < 0 ? old + static_cast<int64_t>(where.size()) : before[i]);
    if (before[i] < 0) where.push_back(own);
    stay = stay && (before[i] < 0 || before[i] == own);
  }
  if (stay && where.empty()) return;
  for (size_t i = 0; i < placed_.size(); ++i) {
    Array& part = placed_[i];
    if (!stay) {
      part = (where.empty() ? part : Array::joined({part, placed[i]})).gathered(source);
      continue;
    }
    if (borrowed_ || part.dim() == 1) part = part.copy();  // see PlacedClasses
    write_rows(placed[i], where, part);
  }
  borrowed_ = false;
}

QueryScores ClassScorer::score(const Array& features) const {
  check_dim(features, enrolled_.feature_dim);
  if (!placed_.empty()) return prepared_->placer()->score(placed_, matrix_of<float>(features));
  return score(images_, features);
}

QueryScores ClassScorer::score(const TaskImages& images, const Array& features) const {
  return answer_of(prepared_->method(), images, matrix_of<float>(features));
}

std::optional<FloatMatrix> ClassScorer::points(const Array& features) const {
  const auto& points = prepared_->method().points;
  if (points == nullptr) return std::nullopt;
  return points->points(matrix_of<float>(features));
}

std::optional<AnswerFormula> ClassScorer::formula() const {
  const PreparedMethod& method = prepared_->method();
  if (!placed_.empty()) {
    const auto* placed = dynamic_cast<const PlacedFormula*>(method.placer.get());
    if (placed == nullptr) return std::nullopt;
    return placed->formula(placed_, enrolled_.feature_dim);
  }
  if (method_->spec().sees == Sees::kAllQueries) return std::nullopt;
  const std::unique_ptr<TaskRun> run = method.make_run();
  const auto* states = dynamic_cast<const TaskFormula*>(run.get());
  if (states == nullptr) return std::nullopt;
  return states->formula(images_);
}

const Array& ClassScorer::images(int64_t k) const { return enrolled_.classes[static_cast<size_t>(k)].features; }

std::vector<PhotoMoments> ClassScorer::moments() const {
  std::vector<PhotoMoments> moments;
  const EnrolledClasses known = options_.moments ? with_moments(enrolled_) : enrolled_;
  for (const StoredClass& one : known.classes)
    moments.push_back(options_.moments ? one.moments : each_its_own(one.count));
  return moments;
}

int64_t ClassScorer::count(int64_t k) const { return enrolled_.classes[static_cast<size_t>(k)].count; }

std::vector<float> ClassScorer::attribute_effects(int64_t k, const Array& feature) const {
  if (placed_.empty()) return {};
  const EnrolledClasses alone = with_classes(enrolled_, {enrolled_.classes[static_cast<size_t>(k)]});
  const StoredClass whole = (adapts_ ? by_moments(alone) : alone).classes[0];
  const Array& association = whole.description.association;
  std::vector<size_t> has;
  std::vector<StoredClass> variants = {whole};
  for (int64_t a = 0; a < association.numel(); ++a) {
    if (association.data<float>()[a] == 0) continue;
    has.push_back(static_cast<size_t>(a));
    StoredClass& without = variants.emplace_back(whole);
    without.name = std::to_string(a) + " without " + whole.name;  // names are unique
    without.description.association = association.copy();
    without.description.association.mutable_data<float>()[a] = 0;
  }
  const PlacedClasses placed = place(with_classes(enrolled_, std::move(variants)));
  const FloatMatrix logits = prepared_->placer()->score(placed, matrix_of<float>(feature)).logits;  // [1, 1 + has]
  std::vector<float> effects(static_cast<size_t>(association.numel()));
  for (size_t i = 0; i < has.size(); ++i) effects[has[i]] = logits(0, 0) - logits(0, static_cast<int64_t>(i) + 1);
  return effects;
}

int64_t ClassScorer::unlabelled_count() const {
  if (!options_.unlabelled || !adapts_) return 0;
  return unlabelled_in(unadapted_->state()) + (enrolled_.unlabelled.defined() ? enrolled_.unlabelled.size(0) : 0);
}

std::unique_ptr<ClassScorer> ClassScorer::without_unlabelled() const {
  ClassScorerOptions options = options_;
  options.unlabelled = false;
  return std::make_unique<ClassScorer>(enrolled_, model_, options);
}

std::unique_ptr<ClassScorer> ClassScorer::without(const std::vector<std::vector<int64_t>>& left_out) const {
  return std::make_unique<ClassScorer>(without_images(enrolled_, left_out), model_, options_);
}

QueryScores ClassScorer::score_without_images(int64_t k, const std::vector<int64_t>& images) const {
  const Array held_out = this->images(k).gathered(images);
  if (adapts_) {
    std::vector<std::vector<int64_t>> left_out(names_.size());
    left_out[static_cast<size_t>(k)] = images;
    return without(left_out)->score(held_out);
  }
  if (placed_.empty()) {
    const auto first = std::lower_bound(images_.label.begin(), images_.label.end(), k) - images_.label.begin();
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < static_cast<int64_t>(images_.label.size()); ++i) {
      if (std::find(images.begin(), images.end(), i - first) == images.end()) kept.push_back(i);
    }
    return score(images_.only(kept), held_out);
  }
  StoredClass rest = enrolled_.classes[static_cast<size_t>(k)];
  leave_out(images, rest);
  const PlacedClasses placed = place(with_classes(enrolled_, {rest}));
  PlacedClasses all;
  for (size_t i = 0; i < placed_.size(); ++i) write_rows(placed[i], {k}, all.emplace_back(placed_[i].copy()));
  return prepared_->placer()->score(all, matrix_of<float>(held_out));
}

QueryScores ClassScorer::score_without_class(int64_t k) const {
  if (adapts_) {
    EnrolledClasses rest = enrolled_;
    rest.classes.erase(rest.classes.begin() + k);
    return ClassScorer(rest, model_, options_).score(images(k));
  }
  if (placed_.empty()) return score(images_.without_class(k), images(k));
  std::vector<int64_t> others;
  for (int64_t i = 0; i < size_of(enrolled_); ++i) {
    if (i != k) others.push_back(i);
  }
  PlacedClasses rest;
  for (const Array& part : placed_) rest.push_back(part.gathered(others));
  return prepared_->placer()->score(rest, matrix_of<float>(images(k)));
}

}  // namespace protocom
