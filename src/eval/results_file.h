#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eval/statistics.h"
#include "protocom/method_result.h"

namespace protocom {

/// A file written by `protocom evaluate --json`.
struct Evaluation {
  std::string name;        ///< display name of the file
  nlohmann::json header;   ///< provenance; an object, possibly empty
  nlohmann::json dataset;  ///< features_hash, split, classes
  std::string command;
  std::string episodes_hash;
  nlohmann::json checks;                   ///< the checks made while it ran; null if the file does not state them
  std::string baseline = "mean";           ///< the method that gains are over
  std::vector<std::string> findings = {};  ///< what fitting the methods found, in sentences
  std::vector<MethodResult> results;

  /// The dataset's display name: the stem of the features' file, or else of `name`.
  [[nodiscard]] std::string dataset_name() const;
  /// Methods and their modes, each once: inductive ones first, then in file order.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> methods() const;
  /// The results of one protocol, in file order.
  [[nodiscard]] std::vector<const MethodResult*> of(const std::string& task) const;
};

/// Reads an evaluation from parsed JSON. Throws Error that names `name` and the field that is missing, of the wrong
/// type or out of range.
Evaluation parse_evaluation(const nlohmann::json& json, const std::string& name);

/// Reads such a file. Throws Error that names it.
Evaluation read_evaluation(const std::filesystem::path& path);

/// Returns how much more accurate `result` is than `baseline`, in points. If both have equally many per-episode
/// accuracies, the episodes were the same: the interval is then 1.96 s / sqrt(n) of the differences. Otherwise it is
/// the root sum of squares of the two intervals.
Estimate gain_over(const MethodResult& result, const MethodResult& baseline);

}  // namespace protocom
