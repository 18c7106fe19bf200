#pragma once
#include <vector>

#include "feature_rows.h"
#include "protocom/eval/evaluate.h"

namespace protocom {

/// One episode's rows as the methods see them: the order of the queries says nothing of their classes.
struct EpisodeTask {
  const Episode* episode = nullptr;     ///< its classes and supports
  std::vector<const float*> completed;  ///< [n_way]; unused when no method completes
  std::vector<int64_t> query;           ///< rows
  std::vector<int64_t> unlabelled;      ///< rows of the pool; empty when the queries take its place
};

/// One method's answers to the queries of a task.
struct EpisodeAnswers {
  std::vector<int64_t> winner;     ///< [q], index into the episode's classes
  std::vector<float> probability;  ///< [q], of the winner
  std::vector<float> margin;       ///< [q]
  double centre_cosine = 0;        ///< mean over classes of the prototype's cosine to the true centre
};

/// Whether the answers hold probabilities, which accuracy does not need.
enum class WithProbabilities { kNo, kYes };

/// Runs episodes one after the other in memory that is allocated for the largest only. One a thread. The formulas are
/// those of cosine_classifier.h and gauss_fusion.h, in which dot products with prototypes serve several methods:
/// q . (m + c) / 2 needs no product of its own.
class EpisodeRun {
 public:
  EpisodeRun(const FeatureRows& rows, const EvaluateOptions& options, WithProbabilities probabilities);

  /// The answers of options.methods[i] are answers()[i].
  void run(const EpisodeTask& task);
  [[nodiscard]] const std::vector<EpisodeAnswers>& answers() const { return answers_; }

 private:
  void reserve(const EpisodeTask& task);
  void set_prototypes(const EpisodeTask& task);
  void dot_queries(const EpisodeTask& task);
  void fuse(const EpisodeTask& task);
  void weigh(const std::vector<int64_t>& rows, const float* dots);
  void answer(const EpisodeTask& task, Method method, EpisodeAnswers& answers);
  void set_factors(Method method);
  void cosines_of(const EpisodeTask& task, Method method);
  [[nodiscard]] double centre_cosine_of(const EpisodeTask& task, Method method) const;
  void pick(int64_t queries, EpisodeAnswers& answers);
  [[nodiscard]] const float* prototype(int64_t i) const { return prototypes_.data() + i * dim_; }

  const FeatureRows& rows_;
  EvaluateOptions options_;
  WithProbabilities probabilities_;
  bool completes_ = false;
  bool fuses_ = false;
  int64_t dim_;
  int64_t n_ = 0;                     // classes
  int64_t columns_ = 0;               // prototypes of mean and completed: n_ or 2 * n_
  std::vector<float> prototypes_;     // [columns, dim]: means, then completed
  std::vector<float> squares_;        // [columns]: products of the prototypes with themselves
  std::vector<float> inverse_norms_;  // [columns]
  std::vector<float> products_;       // [n]: of a class's mean with its completed prototype
  std::vector<const float*> row_of_;  // [q] or [u]
  std::vector<float> query_dots_;     // [q, columns]
  std::vector<float> pool_dots_;      // [u, columns]
  std::vector<float> weights_;        // [q or u, columns]
  std::vector<float> totals_;         // [columns]
  std::vector<float> sums_;           // [columns, dim]
  std::vector<float> square_sums_;    // [columns, dim]
  std::vector<float> fused_;          // [n, dim]
  std::vector<float> fused_inverse_;  // [n]
  std::vector<float> fused_dots_;     // [q, n]
  std::vector<float> factors_;        // [n]: what turns a method's dot products into cosines, less the query's norm
  std::vector<float> cosines_;        // [q, n]: less the query's norm until pick
  std::vector<EpisodeAnswers> answers_;
};

}  // namespace protocom
