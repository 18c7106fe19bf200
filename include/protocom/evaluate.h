#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocom/episode.h"
#include "protocom/error.h"
#include "protocom/features.h"
#include "protocom/fit.h"
#include "protocom/knowledge.h"
#include "protocom/method_result.h"
#include "protocom/progress.h"

namespace protocom::v0 {

/// Few-shot tasks of one shape, drawn from a FeatureSet. Immutable; copies share their memory.
class PROTOCOM_API Episodes {
 public:
  /// Draws the same episodes as `protocom evaluate` for equal features and seed. Throws UsageError for options out of
  /// range, Error for too few classes or images, which it names.
  explicit Episodes(const FeatureSet& features, const EpisodeOptions& options = {});
  /// Reads a file of save() or `protocom evaluate --save-episodes`. Throws Error, which names the episode, if the file
  /// is for other features.
  static Episodes read(const std::string& path, const FeatureSet& features);
  /// Throws Error.
  void save(const std::string& path) const;

  [[nodiscard]] int64_t size() const;
  /// Throws UsageError unless i is in [0, size()).
  [[nodiscard]] Episode operator[](int64_t i) const;
  /// "5-way 1-shot"
  [[nodiscard]] std::string task() const;
  /// Hash of the tasks; equal for equal tasks.
  [[nodiscard]] std::string hash() const;

  struct Impl;
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  explicit Episodes(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

/// The result of an evaluation.
struct Results {
  std::vector<MethodResult> results;  ///< task after task, methods in the order given
  std::string baseline;
  Warnings warnings;

  /// Lines for a terminal: task, method, mode, accuracy with its interval, gain.
  [[nodiscard]] PROTOCOM_API std::string table() const;
  /// Returns the result of a method; `task` is needed with several tasks. Throws UsageError if it was not evaluated.
  [[nodiscard]] PROTOCOM_API const MethodResult& of(const std::string& method, const std::string& task = "") const;
};

/// Inputs of an evaluation besides episodes.
struct EvaluateOptions {
  std::vector<std::string> methods = {};  ///< names with parameters; empty: the fitted ones and the mean
  std::vector<Fitted> fitted = {};
  std::optional<Knowledge> knowledge = {};
  std::optional<CompletionModel> model = {};  ///< needs knowledge
  std::string baseline = "mean";              ///< the method that the others are compared with, if it is evaluated
};

/// Evaluates methods on the same episodes; the figures equal those of `protocom evaluate` to the last bit, for any
/// number of threads. Every episode is checked first (docs/methods.md). Throws UsageError for a method that lacks what
/// it needs, Error if parts do not match one another or a check fails.
PROTOCOM_API Results evaluate(const Episodes& episodes, const EvaluateOptions& options = {},
                              const Progress& progress = {});
/// Evaluates on several lists of episodes of one FeatureSet; lists of equal shape are pooled.
PROTOCOM_API Results evaluate(const std::vector<Episodes>& episodes, const EvaluateOptions& options = {},
                              const Progress& progress = {});

}  // namespace protocom::v0
