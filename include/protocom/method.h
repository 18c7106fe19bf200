#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocom/error.h"
#include "protocom/features.h"
#include "protocom/fit.h"
#include "protocom/knowledge.h"
#include "protocom/rows.h"

namespace protocom::v0 {

/// A parameter of a method: "gauss-fusion:scale=20" sets `scale`.
struct MethodParameter {
  std::string name;
  std::string default_value;         ///< as text
  double low = 0, high = 0;          ///< range of a number; infinite if there is no limit
  std::vector<std::string> choices;  ///< values of a word
  std::string text;                  ///< description
  bool when_fitted = false;          ///< a parameter of fit(), kept in the fitted method
};

/// Description of a method.
struct MethodInfo {
  std::string name;                   ///< "gauss-fusion"
  std::string about;                  ///< one line
  std::string citation;               ///< authors, title, year
  std::string mode;                   ///< "inductive": each query alone; "transductive": the queries of a call together
  std::vector<std::string> needs;     ///< "knowledge", "a completion model", ...; empty: labelled features are enough
  bool needs_fitting = false;         ///< see fit()
  std::vector<std::string> optional;  ///< "fitting", "features of base classes": what it uses but works without
  bool balanced = false;              ///< assumes that all classes are equally frequent among the queries
  int64_t fewest_shots = 1;           ///< labelled images that each class must have
  std::vector<MethodParameter> parameters;
};

/// All methods, with those that add_method() added (own_method.h).
PROTOCOM_API std::vector<MethodInfo> methods();

/// Returns a method's name with the parameters that differ from their defaults, as in results. Throws UsageError for an
/// unknown name or parameter and a value out of range.
PROTOCOM_API std::string method_label(const std::string& method);

/// Inputs of a Classifier besides the labelled images.
struct ClassifierOptions {
  std::vector<std::string> class_names = {};  ///< [c]; empty: the names in the labels, or their numbers
  std::vector<Fitted> fitted = {};            ///< for methods that need fitting, and plda
  std::optional<Knowledge> knowledge = {};    ///< its classes are matched by name
  std::optional<CompletionModel> model = {};  ///< for the methods of the paper; needs knowledge
  std::optional<FeatureSet> base = {};        ///< for methods that need features of base classes
  uint64_t seed = 0;                          ///< for methods that use random numbers
};

/// Classifies features by a method and labelled images of the classes:
///
///     protocom::Classifier classifier("plda", {support, 512}, {0, 0, 1, 1});
///     std::vector<int64_t> winners = classifier.predict({queries, 512});
///
/// Owns or shares all its data. May be used from several threads at once.
class PROTOCOM_API Classifier {
 public:
  /// Takes features [m, d] with labels [m] in [0, c); c is the number of class names, or the largest label plus one.
  /// Throws Error for sizes and labels that do not match, values that are not finite, and a class with fewer labelled
  /// images than the method needs; UsageError for an unknown method and one whose needs are not met.
  Classifier(const std::string& method, const Rows& features, const Labels& labels,
             const ClassifierOptions& options = {});
  ~Classifier();
  Classifier(Classifier&& other) noexcept;
  Classifier& operator=(Classifier&& other) noexcept;

  /// Returns logits [q, c] of queries [q, d]: the largest wins. A transductive method classifies the queries of a call
  /// together. Throws Error for no query, another d, and values that are not finite.
  [[nodiscard]] Matrix scores(const Rows& queries) const;
  /// Returns the softmax of the logits: rows sum to 1. `shares` [c]: class proportions among the queries, for methods
  /// that use them (plda-vb:proportions=given); empty: unknown.
  [[nodiscard]] Matrix probabilities(const Rows& queries, const std::vector<double>& shares = {}) const;
  /// Returns the index of each query's most probable class, [q]; for equal probabilities the first.
  [[nodiscard]] std::vector<int64_t> predict(const Rows& queries) const;

  [[nodiscard]] const std::vector<std::string>& class_names() const;
  /// Number of dimensions d of a feature.
  [[nodiscard]] int64_t dim() const;
  /// The method's name with parameters.
  [[nodiscard]] std::string method() const;
  [[nodiscard]] const Warnings& warnings() const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace protocom::v0
