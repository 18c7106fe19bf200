#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/array.h"
#include "fewshot/paper/protocomnet_options.h"

namespace protocom {

struct CompletionModel;

/// Input of the network: m prototypes to complete and, as a ragged list, the (prototype, attribute) pairs with R != 0.
struct CompletionInput {
  at::Tensor prototypes;           ///< p_k, float32 [m, d]
  at::Tensor class_embedding;      ///< h_k of each prototype's class, float32 [m, e]
  at::Tensor attribute_embedding;  ///< h_a of all attributes, float32 [a, e]
  at::Tensor pair_prototype;       ///< int64 [p], in [0, m)
  at::Tensor pair_attribute;       ///< int64 [p], in [0, a)
  at::Tensor pair_weight;          ///< R_ka, float32 [p]
  at::Tensor pair_feature;         ///< z_a, float32 [p, d]: a draw in training, the mean at test
};

/// The prototype completion network f_c (section 3.3): encoder, aggregator, decoder. Tensors are plain parameters under
/// state-dict names, so that any optimizer or file format can hold them. Not thread-safe in training.
class ProtoComNet {
 public:
  /// Initialises weights like torch.nn.Linear (uniform in +-1/sqrt(fan_in)), from LibTorch's generator.
  explicit ProtoComNet(const ProtoComNetOptions& options);
  /// Shares the weights of a model, without copies: a training that changes parameters in place changes the model,
  /// although it is const here. Gradients belong to this object, so each training makes its own.
  explicit ProtoComNet(const CompletionModel& model);

  [[nodiscard]] const ProtoComNetOptions& options() const { return options_; }

  /// Returns completed prototypes, float32 [m, d]: decoder(sum_a alpha_ka z'_a + z'_k), equations 9 and 10, with
  /// alpha_ka = R_ka * g_a([p_k | h_k | h_a]), h L2-normalised, and z' = ReLU(W_e z + b_e). A class without attributes
  /// keeps only z'_k.
  [[nodiscard]] at::Tensor forward(const CompletionInput& input) const;

  /// Returns alpha, float32 [p]: the weight of every pair (equation 10).
  [[nodiscard]] at::Tensor attention(const CompletionInput& input) const;

  /// Maps prototypes or attribute features z, float32 [n, d], to codes z' = ReLU(W_e z + b_e), float32 [n, code_dim]
  /// (equation 9).
  [[nodiscard]] at::Tensor encode(const at::Tensor& features) const;

  /// Maps codes g_k, float32 [m, code_dim], to completed prototypes, float32 [m, d].
  [[nodiscard]] at::Tensor decode(const at::Tensor& codes) const;

  /// Returns names and tensors, in the order of weight_shapes(). The tensors are aliases.
  [[nodiscard]] const std::vector<std::pair<std::string, at::Tensor>>& state_dict() const { return state_; }
  [[nodiscard]] std::vector<at::Tensor> parameters() const;
  /// Throws Error for a name that state_dict() does not have.
  [[nodiscard]] const at::Tensor& parameter(const std::string& name) const;

 private:
  ProtoComNetOptions options_;
  std::vector<std::pair<std::string, at::Tensor>> state_;
};

/// Returns the weights of a CompletionModel: arrays that share the parameters' memory, or copies if they are on another
/// device.
std::vector<std::pair<std::string, Array>> weights_of(const ProtoComNet& network);

}  // namespace protocom
