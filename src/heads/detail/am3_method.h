#pragma once
#include <memory>
#include <string>
#include <vector>

#include "fewshot/trained/am3.h"
#include "heads/detail/class_semantics.h"
#include "heads/detail/trained_head.h"
#include "heads/detail/training_tasks.h"
#include "heads/detail/unit_space.h"

namespace protocom {

/// The adaptive mixture of a prototype and the class's semantics (Xing et al., AM3, 2019):
///   w = g(s) / sqrt(d), lambda = sigmoid(h(g(s))), p' = lambda p + (1 - lambda) w
/// for prototypes of unit vectors; networks take and return values of size 1.
struct Am3Block {
  TwoLayers transform;  ///< g: [s] to [d]
  TwoLayers gate;       ///< h: [d] to [1]
};

/// Dropout of the hidden layers, in training only.
struct Dropout {
  double share = 0;  ///< of the units left out; 0: none
};

/// The margins of Li et al., 2020, [..., n, n]: alpha cos(s_y, s_k) + beta between a task's classes y and k of
/// semantics [..., n, s], and 0 on the diagonal.
struct MarginLaw {
  double alpha = 0;
  double beta = 0;
};

/// The differences between AM3 and its relatives.
struct Am3Design {
  std::vector<std::string> semantics;  ///< of each block of the chain, as for class_semantics
  MarginLaw margins = {};              ///< in training
};

/// The learned parameters.
struct Am3Model {
  std::shared_ptr<const UnitSpace> space;
  std::vector<Am3Block> blocks;
  at::Tensor log_scale;  ///< [], of the squared distance

  [[nodiscard]] std::vector<at::Tensor> parameters() const;
  void fields(StateFields& fields);
  /// -scale |q - p|^2, [b, q, n].
  [[nodiscard]] at::Tensor logits(const at::Tensor& queries, const at::Tensor& prototypes) const;
};

/// Returns the sum over the chain's outputs of the cross-entropy of tasks whose classes have `semantics` [b, n, s], one
/// tensor per block; margins use the first.
at::Tensor am3_loss(const Am3Model& model, const TrainingTasks& tasks, const std::vector<at::Tensor>& semantics,
                    const Am3Design& design, Dropout dropout);

/// AM3 and its relatives: a chain of blocks on class means, trained on tasks of base classes.
class Am3Method : public TrainedHead<Am3Model, Am3Options> {
 public:
  Am3Method(Am3Options options, Am3Design design) : TrainedHead(std::move(options)), design_(std::move(design)) {}

  [[nodiscard]] BatchScorer scorer(const MethodContext& context) const override;

 private:
  HeadTraining begin(const FitInputs& inputs, Rng& rng) override;
  [[nodiscard]] Am3Model blank() const override;
  [[nodiscard]] Am3Model untrained(const FitInputs& inputs, const std::vector<at::Tensor>& semantics) const;
  [[nodiscard]] std::vector<at::Tensor> semantics_of(const KnowledgeTable& knowledge,
                                                     const std::vector<std::string>& class_names) const;

  Am3Design design_;
};

}  // namespace protocom
