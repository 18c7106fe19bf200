#include "fewshot/plda/fit.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "fewshot/plda/detail/candidate.h"
#include "fewshot/plda/detail/choice.h"
#include "fewshot/plda/detail/directions.h"
#include "fewshot/plda/detail/knowledge_gain.h"

namespace protocom {
namespace {

constexpr double kUncalibratedFloor = 0.05;

constexpr const char* kMissed = "of the squared means missed";
constexpr const char* kRight = "% of the images of held-out classes right";
constexpr const char* kExplained = "of the variance between held-out classes explained";

/// With few classes, or few images beyond one per class, little is known of how images of other classes differ, and a
/// space close to a multiple of the identity is better: it is also tried if they are few, and is the default if they
/// are so few that hardly a class can be left out (docs/log/plda.md).
constexpr double kShrinkageOfFew = 0.85;
constexpr int64_t kFewClasses = 20, kVeryFewClasses = 5;
constexpr double kFewDegrees = 1000, kVeryFewDegrees = 300;

/// Returns the shrinkages to try, the default first.
std::vector<double> shrinkages_for(const UnitMoments& base, const PldaFitOptions& options) {
  std::vector<double> shrinkages = options.shrinkages;
  const auto classes = static_cast<int64_t>(base.classes.size());
  const double degrees = base.count.sum() - static_cast<double>(classes);
  if (shrinkages.size() == 1 || (classes >= kFewClasses && degrees >= kFewDegrees)) return shrinkages;
  const bool usual = classes < kVeryFewClasses || degrees < kVeryFewDegrees;
  shrinkages.insert(usual ? shrinkages.begin() : shrinkages.end(), kShrinkageOfFew);
  return shrinkages;
}

TaskDraws draws_of(const PldaFitOptions& options) { return {options.tasks, options.seed}; }

void record(const std::string& what, const std::vector<std::string>& settings, const std::vector<DoubleVector>& figures,
            size_t chosen, std::vector<PldaTrial>& tried) {
  for (size_t i = 0; i < settings.size(); ++i)
    tried.push_back({what, settings[i], figures[i].mean(), i == chosen, kRight});
}

/// Chooses the prior's settings, by base classes left out in the space of all of them.
PriorChoice choose_knowledge(const PldaSpaceFitter& whole, const PldaFitInputs& inputs, const PldaFitOptions& options) {
  if (inputs.descriptions.empty()) return {};
  const PldaSpace space = whole.space(options.shrinkages.front());
  PriorOptions prior;
  prior.seed = options.seed;
  return choose_prior(options.prior, prior_examples(space, whole.moments(), inputs.descriptions), prior);
}

void record(const PriorChoice& choice, PldaFit& fit) {
  for (const PriorTrial& trial : choice.trials)
    fit.tried.push_back({"knowledge", trial.setting, trial.error, &trial == &choice.trials.front(), kMissed});
  if (!choice.trials.empty()) fit.model.explained_left_out = 1 - choice.trials.front().error;
  fit.model.knowledge_options = choice.ridge;
}

void choose_vb(const std::vector<HeldOutClasses>& parts, const PldaFitOptions& options, PldaFit& fit) {
  const auto tasks = setting_tasks(parts, all_query_kinds(), draws_of(options));
  if (tasks.empty()) return;
  const std::vector<std::pair<double, double>> grid = {{0.5, 0.5}, {0.35, 0.5}, {0.7, 0.5},
                                                       {0.5, 0.0}, {0.5, 1.0},  {0.35, 1.0}};
  std::vector<std::string> settings;
  std::vector<DoubleVector> figures;
  for (const auto& [trust, spread] : grid) {
    PldaVbOptions vb;
    vb.trust = trust;
    vb.spread = spread;
    settings.push_back(fmt::format("{}, {}", trust, spread));
    figures.push_back(accuracies(tasks, transductive_scores(vb)));
  }
  const size_t chosen = choose(figures);
  record("trust, spread", settings, figures, chosen, fit.tried);
  fit.model.vb.trust = grid[chosen].first;
  fit.model.vb.spread = grid[chosen].second;
}

/// Returns the candidate with the best inductive accuracy.
PldaCandidate choose_space(const HeldOutEvidence& evidence, const KnowledgeInputs& knowledge,
                           const PldaFitOptions& options, std::vector<PldaTrial>& tried) {
  std::vector<PldaCandidate> candidates;
  std::vector<std::string> settings;
  std::vector<DoubleVector> figures;
  for (const double shrinkage : options.shrinkages) {
    // The measurement does not depend on the floor, which multiplies two numbers of the laws.
    const PldaCandidate measured = measure_candidate(evidence, shrinkage, knowledge);
    for (const double floor : options.floors) {
      candidates.push_back(with_floors(measured, floor));
      const auto tasks =
          setting_tasks(held_out_classes(candidates.back()), {TaskQueries::kBalanced}, draws_of(options));
      settings.push_back(fmt::format("{}, {}", shrinkage, floor));
      figures.push_back(tasks.empty() ? DoubleVector(DoubleVector::Zero(1)) : accuracies(tasks, inductive_scores));
    }
  }
  const size_t chosen = choose(figures);
  record("shrinkage, floor", settings, figures, chosen, tried);
  return candidates[chosen];
}

/// Returns the candidate with the factor of the variance around predictions from knowledge that is best in tasks of
/// many classes.
PldaCandidate choose_variance_around(const PldaCandidate& best, const PldaFitOptions& options,
                                     std::vector<PldaTrial>& tried) {
  if (!best.uses_knowledge()) return best;
  std::vector<std::string> settings;
  std::vector<DoubleVector> figures;
  for (const double factor : options.variances_around) {
    const auto tasks = many_class_tasks(held_out_classes(with_variance_around(best, factor)), draws_of(options));
    if (tasks.empty()) return best;
    settings.push_back(fmt::format("{}", factor));
    figures.push_back(accuracies(tasks, inductive_scores));
  }
  const size_t chosen = choose(figures);
  record("variance around knowledge", settings, figures, chosen, tried);
  return with_variance_around(best, options.variances_around[chosen]);
}

/// Takes the laws found, in the space of all base classes.
void take(const PldaCandidate& best, const PldaSpace& raw, PldaFit& fit) {
  fit.shrinkage = best.shrinkage;
  fit.floor = best.floor;
  fit.model.space = rescaled(raw, best.laws);
  fit.model.residual = residual_variance(raw, best.laws);
  if (!best.uses_knowledge()) return;
  fit.strength = best.strength;
  fit.tried.push_back(
      {"strength of knowledge", fmt::format("{:.2f}", best.strength), best.explained, true, kExplained});
  fit.model.explained = best.explained;
}

/// The gain is reported, so it is measured with more tasks than are used to choose settings: those are compared on
/// shared tasks, whose noise cancels.
constexpr int64_t kTasksOfAPromise = 8;

std::vector<KnowledgeGain> gains_of(const PldaCandidate& candidate, const PldaFitOptions& options) {
  TaskDraws draws = draws_of(options);
  draws.tasks *= kTasksOfAPromise;
  const std::vector<TaskQueries> balanced = {TaskQueries::kBalanced};
  return measure_gains(setting_tasks(held_out_classes(candidate), balanced, draws),
                       setting_tasks(held_out_classes(without_knowledge(candidate)), balanced, draws));
}

/// So that 5-way tasks can be drawn from each part.
constexpr int64_t kFewestOfAPart = 5;

/// Measures the same candidate by cross-validation over base classes in this many parts.
std::vector<KnowledgeGain> gains_in_parts(int64_t parts, const PldaCandidate& best, const KnowledgeInputs& knowledge,
                                          const PldaFitInputs& inputs, const PldaFitOptions& options) {
  PldaFitOptions other = options;
  other.folds = parts;
  const HeldOutEvidence evidence = hold_out(inputs, other).second;
  const PldaCandidate measured = with_floors(measure_candidate(evidence, best.shrinkage, knowledge), best.floor);
  return gains_of(with_variance_around(measured, best.around), options);
}

/// Returns the expected gain from knowledge. If base classes are left out in parts, the prior of each part was fitted
/// on the others alone, and more classes improve it: the gain is measured with two numbers of parts, one twice the
/// other.
std::vector<KnowledgeGain> promised_gains(const PldaCandidate& best, const HeldOutEvidence& evidence,
                                          const KnowledgeInputs& knowledge, const PldaFitInputs& inputs,
                                          const PldaFitOptions& options) {
  std::vector<KnowledgeGain> gains = gains_of(best, options);
  const auto parts = static_cast<int64_t>(evidence.folds.size());
  if (!evidence.val.empty() || parts < 4) return gains;
  size_t classes = 0;
  for (const HeldOutPart& part : evidence.folds) classes += part.rows.size();
  if (static_cast<int64_t>(classes) < 2 * parts * kFewestOfAPart)
    return with_all_classes(std::move(gains), parts, gains_in_parts(parts / 2, best, knowledge, inputs, options),
                            parts / 2);
  return with_all_classes(gains_in_parts(2 * parts, best, knowledge, inputs, options), 2 * parts, gains, parts);
}

/// Chooses the settings of variational EM and of probabilities.
void choose_answers(const PldaCandidate& best, const PldaFitOptions& options, PldaFit& fit) {
  const auto parts = held_out_classes(best);
  choose_vb(parts, options, fit);
  set_probabilities(parts, {best.uses_knowledge(), draws_of(options)}, fit.model);
}

Array roots_of(const Array& features) {
  if (!features.defined()) return features;
  Array roots = features.copy();
  auto rows = mutable_matrix_of<float>(roots);
  take_roots(rows);
  return roots;
}

/// Replaces features by their roots, for spaces that use them.
PldaFitInputs roots_of(PldaFitInputs inputs) {
  inputs.base_features = roots_of(inputs.base_features);
  inputs.val_features = roots_of(inputs.val_features);
  return inputs;
}

PldaSpace with_floor(PldaSpace space) {
  space.between.array() += kUncalibratedFloor * space.between.head(space.leading).mean();
  return space;
}

PldaFit fit_once(const PldaFitInputs& given, PldaFitOptions options) {
  PldaFit fit;
  const bool root = given.base_features.numel() > 0 && matrix_of<float>(given.base_features).minCoeff() >= 0;
  const PldaFitInputs inputs = root ? roots_of(given) : given;
  const auto [whole, evidence] = hold_out(inputs, options);
  options.shrinkages = shrinkages_for(whole.moments(), options);
  const PriorChoice choice = choose_knowledge(whole, inputs, options);
  record(choice, fit);
  const KnowledgeInputs knowledge{inputs.descriptions, choice.fit};
  fit.shrinkage = options.shrinkages.front();
  PldaSpace raw = whole.space(fit.shrinkage);
  DoubleVector factor =
      DoubleVector::Zero(raw.between.size());  // of predictions by the prior: 0 if nothing is measured
  if (evidence.for_tasks().empty()) {
    fit.model.space = with_floor(raw);
    fit.model.residual = fit.model.space.between;
  } else {
    const PldaCandidate best =
        choose_variance_around(choose_space(evidence, knowledge, options, fit.tried), options, fit.tried);
    raw = whole.space(best.shrinkage);
    // The prior is fitted in the space before it is rescaled, so its predictions are converted to the new unit.
    factor = best.strength * unit_of(best.laws);
    take(best, raw, fit);
    choose_answers(best, options, fit);
    if (best.uses_knowledge()) fit.gains = promised_gains(best, evidence, knowledge, inputs, options);
  }
  if (knowledge.fit)
    fit.model.knowledge = knowledge.fit(prior_examples(raw, whole.moments(), knowledge.descriptions))->scaled(factor);
  fit.model.space.root = root;
  return fit;
}

}  // namespace

PldaFit fit_plda(const PldaFitInputs& given, const PldaFitOptions& options) {
  if (options.shrinkages.empty() || options.floors.empty() || options.variances_around.empty() || options.folds < 2 ||
      options.tasks < 1) {
    fail_usage(
        "shrinkages, floors, variances, folds and tasks: expected at least 1, 1, 1, 2 and 1, found {}, {}, {}, {} and "
        "{}",
        options.shrinkages.size(), options.floors.size(), options.variances_around.size(), options.folds,
        options.tasks);
  }
  PldaFit with = fit_once(given, options);
  if (!options.only_if_it_pays || knowledge_pays(with.gains)) return with;
  PldaFitInputs without = given;
  without.descriptions = {};
  PldaFit fit = fit_once(without, options);
  fit.gains = std::move(with.gains);
  fit.left_out = true;
  return fit;
}

}  // namespace protocom
