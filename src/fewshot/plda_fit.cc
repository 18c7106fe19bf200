#include "protocom/fewshot/plda_fit.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "fewshot/plda_evidence.h"
#include "fewshot/plda_probabilities.h"
#include "protocom/core/error.h"
#include "protocom/core/rng.h"
#include "protocom/fewshot/plda_calibration.h"

namespace protocom {
namespace {

constexpr double kUncalibratedFloor = 0.05;

PriorExamples examples_in(const PldaSpace& space, const UnitMoments& base, const ClassDescriptions& descriptions) {
  return {descriptions.rows(base.classes), space.transform_means(base.mean), space.leading};
}

VarianceLaw middle(const VarianceLaw& a, const VarianceLaw& b) {
  return {std::sqrt(a.scale * b.scale), (a.power + b.power) / 2, std::sqrt(a.floor * b.floor)};
}

PldaCalibration middle(const PldaCalibration& a, const PldaCalibration& b) {
  return {middle(a.between, b.between), middle(a.residual, b.residual), (a.within * b.within).sqrt()};
}

/// Held-out classes, the space of the others, and what knowledge says of them there.
struct SeenPart {
  const HeldOutPart* part;
  PldaSpace space;
  at::Tensor predicted;  ///< [c, e]; undefined without knowledge
};

/// A space with its laws and what they were taken from.
struct Candidate {
  double shrinkage = 0;
  double strength = 1;  ///< factor of what knowledge predicts
  std::optional<PldaCalibration> calibration = {};
  double explained = 0;
  std::vector<SeenPart> parts = {};  ///< of HeldOutEvidence::for_tasks()
};

/// Descriptions of all classes and what is made of them.
struct Told {
  const ClassDescriptions& descriptions;
  FitPrior fit;  ///< null: nothing is known
};

std::vector<SeenPart> see(const std::vector<HeldOutPart>& parts, double shrinkage, const Told& told) {
  std::vector<SeenPart> seen;
  for (const HeldOutPart& part : parts) {
    SeenPart one{&part, part.fitter.space(shrinkage), {}};
    if (told.fit) {
      one.predicted = told.fit(examples_in(one.space, part.fitter.moments(), told.descriptions))
                          ->predict(told.descriptions.rows(part.held_out.classes));
    }
    seen.push_back(std::move(one));
  }
  return seen;
}

/// How far held-out class means lie along what knowledge predicts of them: the least squares factor of the prediction,
/// in [0, 1]; 1 where nothing is predicted.
double strength_of(const std::vector<SeenPart>& parts) {
  double along = 0;
  double length = 0;
  for (const SeenPart& one : parts) {
    if (!one.predicted.defined()) return 1;
    along += (one.predicted * one.space.transform_means(one.part->held_out.mean)).sum().item<double>();
    length += (one.predicted * one.predicted).sum().item<double>();
  }
  return length > 0 ? std::clamp(along / length, 0.0, 1.0) : 1;
}

at::Tensor strengthened(const SeenPart& part, double strength) {
  return part.predicted.defined() ? strength * part.predicted : at::Tensor();
}

/// Laws, strength and explained share are the middle of those of base classes left out and those of val classes.
Candidate measure(const HeldOutEvidence& evidence, double shrinkage, const Told& told) {
  std::vector<std::vector<SeenPart>> kinds;  // those of the val classes come last, where there are any
  for (const auto* parts : {&evidence.folds, &evidence.val}) {
    if (!parts->empty()) kinds.push_back(see(*parts, shrinkage, told));
  }
  Candidate candidate{shrinkage};
  if (kinds.empty()) return candidate;
  const auto many = static_cast<double>(kinds.size());
  candidate.strength = 0;
  for (const auto& parts : kinds) candidate.strength += strength_of(parts) / many;
  for (const auto& parts : kinds) {
    std::vector<HeldOutVariance> variances;
    for (const SeenPart& one : parts)
      variances.push_back(held_out_variance(one.space, one.part->held_out, strengthened(one, candidate.strength)));
    const HeldOutVariance mean = mean_of(variances);
    const PldaCalibration found = calibrate(mean);
    candidate.calibration = candidate.calibration ? middle(*candidate.calibration, found) : found;
    const double missed =
        (mean.residual / found.within).sum().item<double>() / (mean.between / found.within).sum().item<double>();
    candidate.explained += (1 - missed) / many;
  }
  candidate.parts = std::move(kinds.back());
  return candidate;
}

/// The laws' floors times a factor.
Candidate with_floors(Candidate candidate, double factor) {
  if (candidate.calibration) {
    candidate.calibration->between.floor *= factor;
    candidate.calibration->residual.floor *= factor;
  }
  return candidate;
}

/// Whether anything is known of its classes.
bool tells(const Candidate& candidate) { return candidate.parts.front().predicted.defined(); }

Candidate without_knowledge(Candidate candidate) {
  for (SeenPart& one : candidate.parts) one.predicted = at::Tensor();
  return candidate;
}

/// The held-out classes of each part in its own space under the candidate's laws.
std::vector<HeldOutClasses> held_out_classes(const Candidate& candidate) {
  std::vector<HeldOutClasses> result;
  for (const SeenPart& one : candidate.parts) {
    PldaModel model;
    model.space = calibrated(one.space, *candidate.calibration);
    model.residual = residual_variance(one.space, *candidate.calibration);
    const at::Tensor mean = strengthened(one, candidate.strength);
    const ClassMeanPrior prior = mean.defined()
                                     ? ClassMeanPrior{mean * unit_of(*candidate.calibration), model.residual}
                                     : no_knowledge(model.space.between, {static_cast<int64_t>(one.part->rows.size())});
    const PldaRows rows(model);
    result.push_back({rows.layout(), rows.map(one.part->features.to(at::kFloat)), one.part->rows,
                      in_parts(prior, rows.layout()), in_parts(no_knowledge(model.space.between, {1}), rows.layout())});
  }
  return result;
}

/// With one shot and, where the classes have the images, with five. The same tasks for every candidate, because the
/// draws depend on seed and images alone.
std::vector<PldaTasks> all_tasks(const std::vector<HeldOutClasses>& parts, const std::vector<TaskQueries>& kinds,
                                 const PldaFitOptions& options) {
  std::vector<PldaTasks> tasks;
  const auto each = std::max<int64_t>(1, options.tasks / static_cast<int64_t>(parts.size()));
  for (size_t p = 0; p < parts.size(); ++p) {
    const int64_t fewest = fewest_images(parts[p]);
    if (fewest < 2) continue;
    Rng rng = Rng(options.seed).fork(p + 1);
    for (const int64_t k_shot : {int64_t{1}, std::clamp<int64_t>(fewest / 2, 1, 5)}) {
      for (const TaskQueries kind : kinds) tasks.push_back(draw_tasks(parts[p], {each, k_shot, kind}, rng));
    }
  }
  return tasks;
}

/// Accuracy in percent of every task, one after the other.
at::Tensor accuracies(const std::vector<PldaTasks>& all, const TaskScoring& scores) {
  std::vector<at::Tensor> parts;
  for (const PldaTasks& tasks : all) {
    parts.push_back(100 * scores(tasks).argmax(-1).eq(tasks.labels).to(at::kDouble).mean(-1));
  }
  return at::cat(parts);
}

/// Whether the gain, task by task, is above its standard error.
bool surely_better(const at::Tensor& now, const at::Tensor& before) {
  const at::Tensor gain = now - before;
  const double error = gain.numel() > 1 ? gain.std().item<double>() / std::sqrt(gain.numel()) : 0;
  return gain.mean().item<double>() > error;
}

/// Chooses among candidates in order: the best mean of those that are surely better than the first.
size_t choose(const std::vector<at::Tensor>& figures) {
  size_t best = 0;
  for (size_t i = 1; i < figures.size(); ++i) {
    const bool higher = figures[i].mean().item<double>() > figures[best].mean().item<double>();
    if (higher && surely_better(figures[i], figures[0])) best = i;
  }
  return best;
}

void record(const std::string& what, const std::vector<std::string>& settings, const std::vector<at::Tensor>& figures,
            size_t chosen, std::vector<PldaTrial>& tried) {
  for (size_t i = 0; i < settings.size(); ++i) {
    tried.push_back({what, settings[i], figures[i].mean().item<double>(), i == chosen});
  }
}

/// The prior's settings, by base classes left out in the space of all of them.
PriorChoice choose_knowledge(const PldaSpaceFitter& whole, const PldaFitInputs& inputs, const PldaFitOptions& options) {
  if (inputs.descriptions.empty()) return {};
  const PldaSpace space = whole.space(options.shrinkages.front());
  PriorOptions prior;
  prior.seed = options.seed;
  return choose_prior(options.prior, examples_in(space, whole.moments(), inputs.descriptions), prior);
}

void record(const PriorChoice& choice, PldaFit& fit) {
  for (const PriorTrial& trial : choice.trials)
    fit.tried.push_back({"knowledge", trial.setting, trial.error, &trial == &choice.trials.front()});
  if (!choice.trials.empty()) fit.model.explained_left_out = 1 - choice.trials.front().error;
  fit.model.knowledge_options = choice.ridge;
}

void choose_vb(const std::vector<HeldOutClasses>& parts, const PldaFitOptions& options, PldaFit& fit) {
  const auto tasks = all_tasks(parts, all_query_kinds(), options);
  if (tasks.empty()) return;
  const std::vector<std::pair<double, double>> grid = {{0.5, 0.5}, {0.35, 0.5}, {0.7, 0.5},
                                                       {0.5, 0.0}, {0.5, 1.0},  {0.35, 1.0}};
  std::vector<std::string> settings;
  std::vector<at::Tensor> figures;
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

/// The candidate whose inductive accuracy is the best.
Candidate choose_space(const HeldOutEvidence& evidence, const Told& told, const PldaFitOptions& options,
                       std::vector<PldaTrial>& tried) {
  std::vector<Candidate> candidates;
  std::vector<std::string> settings;
  std::vector<at::Tensor> figures;
  for (const double shrinkage : options.shrinkages) {
    const Candidate measured = measure(evidence, shrinkage, told);
    for (const double floor : options.floors) {
      candidates.push_back(with_floors(measured, floor));
      const auto tasks = all_tasks(held_out_classes(candidates.back()), {TaskQueries::kBalanced}, options);
      settings.push_back(fmt::format("{}, {}", shrinkage, floor));
      figures.push_back(tasks.empty() ? at::zeros({1}, at::kDouble) : accuracies(tasks, inductive_scores()));
    }
  }
  const size_t chosen = choose(figures);
  record("shrinkage, floor", settings, figures, chosen, tried);
  return candidates[chosen];
}

/// The same tasks with knowledge and without, by the number of shots.
std::vector<KnowledgeWorth> measure_knowledge(const std::vector<PldaTasks>& with,
                                              const std::vector<PldaTasks>& without) {
  std::map<int64_t, std::pair<std::vector<PldaTasks>, std::vector<PldaTasks>>> by_shots;
  for (size_t i = 0; i < with.size(); ++i) {
    auto& [known, unknown] = by_shots[with[i].k_shot];
    known.push_back(with[i]);
    unknown.push_back(without[i]);
  }
  std::vector<KnowledgeWorth> worth;
  for (const auto& [k_shot, tasks] : by_shots) {
    const at::Tensor base = accuracies(tasks.second, inductive_scores());
    const at::Tensor gain = accuracies(tasks.first, inductive_scores()) - base;
    const double error = gain.numel() > 1 ? gain.std().item<double>() / std::sqrt(gain.numel()) : 0;
    worth.push_back({k_shot, base.mean().item<double>(), gain.mean().item<double>(), 1.96 * error});
  }
  return worth;
}

/// The laws that were found, in the space of all base classes.
void take(const Candidate& best, const PldaSpace& raw, PldaFit& fit) {
  fit.model.space = calibrated(raw, *best.calibration);
  fit.model.residual = residual_variance(raw, *best.calibration);
  if (!tells(best)) return;
  fit.tried.push_back({"strength of knowledge", fmt::format("{:.2f}", best.strength), best.explained, true});
  fit.model.explained = best.explained;
}

/// Variational EM's settings, what knowledge is worth, and probabilities.
void choose_answers(const Candidate& best, const PldaFitOptions& options, PldaFit& fit) {
  const auto parts = held_out_classes(best);
  choose_vb(parts, options, fit);
  if (tells(best)) {
    const std::vector<TaskQueries> balanced = {TaskQueries::kBalanced};
    fit.worth = measure_knowledge(all_tasks(parts, balanced, options),
                                  all_tasks(held_out_classes(without_knowledge(best)), balanced, options));
  }
  const ProbabilityTasks probabilities{tells(best), options.tasks, options.seed};
  const std::vector<VolumeTrial> volumes = try_volumes(parts, probabilities);
  for (const VolumeTrial& trial : volumes)
    fit.tried.push_back(
        {"volume of uneven shots", fmt::format("{}", trial.volume), trial.loss, &trial == &volumes.front()});
  if (!volumes.empty()) fit.model.volume = volumes.front().volume;
  set_probabilities(parts, probabilities, fit.model);
}

PldaSpace with_floor(PldaSpace space) {
  space.between = space.between + kUncalibratedFloor * space.between.narrow(0, 0, space.leading).mean();
  return space;
}

}  // namespace

std::string knowledge_worth_sentence(const std::vector<KnowledgeWorth>& worth) {
  std::string text;
  for (const KnowledgeWorth& one : worth) {
    const bool measurable = std::abs(one.gain) > one.ci95;
    text += text.empty() ? "Knowledge " : ", ";
    text += measurable ? fmt::format("{} {:.1f} ± {:.1f} points", one.gain > 0 ? "adds" : "costs", std::abs(one.gain),
                                     one.ci95)
                       : "adds nothing measurable";
    text += fmt::format(" {} the {:.1f} % of {} image{} a class", measurable && one.gain < 0 ? "of" : "to", one.without,
                        one.k_shot, one.k_shot > 1 ? "s" : "");
  }
  return text.empty() ? "" : text + " (tasks of classes held out of the fit).";
}

PldaFit fit_plda(const PldaFitInputs& inputs, const PldaFitOptions& options) {
  if (options.shrinkages.empty() || options.floors.empty() || options.folds < 2 || options.tasks < 1) {
    fail_usage("{} shrinkages, {} floors, {} folds and {} tasks were asked for, expected at least 1, 1, 2 and 1",
               options.shrinkages.size(), options.floors.size(), options.folds, options.tasks);
  }
  PldaFit fit;
  const auto [whole, evidence] = hold_out(inputs, options);
  const PriorChoice choice = choose_knowledge(whole, inputs, options);
  record(choice, fit);
  const Told told{inputs.descriptions, choice.fit};
  PldaSpace raw = whole.space(options.shrinkages.front());
  at::Tensor factor = at::ones_like(raw.between);  // of what the prior predicts
  if (evidence.for_tasks().empty()) {
    fit.model.space = with_floor(raw);
    fit.model.residual = fit.model.space.between;
  } else {
    const Candidate best = choose_space(evidence, told, options, fit.tried);
    raw = whole.space(best.shrinkage);
    factor = best.strength * unit_of(*best.calibration);
    take(best, raw, fit);
    choose_answers(best, options, fit);
  }
  if (told.fit) fit.model.knowledge = told.fit(examples_in(raw, whole.moments(), told.descriptions))->scaled(factor);
  return fit;
}

}  // namespace protocom
