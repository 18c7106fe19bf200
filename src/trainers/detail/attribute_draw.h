#pragma once
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "fewshot/paper/completer.h"
#include "heads/protocomnet.h"

namespace protocom {

/// Draws the attribute features from which a prototype is completed in training: z_a ~ N(mu_a, diag(sigma_a^2)) of
/// equation 9, independently for every prototype.
class AttributeDraw {
 public:
  /// Both must outlive it. `classes` has the model's attribute order.
  AttributeDraw(const KnowledgeTable& classes, const CompletionModel& model);

  /// Returns the input of a ProtoComNet for prototypes [m, d] of the classes `labels` [m], on the prototypes' device.
  /// The normal numbers come from `generator`, on the CPU.
  [[nodiscard]] CompletionInput input(const at::Tensor& prototypes, const std::vector<int64_t>& labels,
                                      at::Generator& generator) const;

 private:
  const KnowledgeTable& classes_;
  const CompletionModel& model_;
  std::vector<std::vector<int64_t>> attributes_of_;  // by class
};

}  // namespace protocom
