#include <ATen/ATen.h>

#include "base/error.h"
#include "fewshot/plda/detail/matrix_of_tensor.h"
#include "fewshot/plda/detail/prior_kind.h"
#include "fewshot/plda/detail/state_matrices.h"
#include "fewshot/toolbox/detail/class_semantics.h"
#include "fewshot/toolbox/detail/state_tensors.h"
#include "fewshot/toolbox/detail/step_training.h"
#include "fewshot/toolbox/detail/two_layers.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

constexpr const char* kSemAlign = "sem-align";
constexpr const char* kSemAlignNet = "sem_align.";
constexpr const char* kSemAlignFactor = "sem_align.factor";
constexpr double kSemAlignSlope = 0.2;
constexpr int64_t kSemAlignHidden = 1024;
constexpr int64_t kSemAlignSteps = 100;
constexpr double kSemAlignRate = 3e-4;

// The network is trained by autograd, so it and what it reads are tensors.

/// What is known of classes as one row each, [n, s]: attributes and words, each of size 1.
at::Tensor semantics_of(const KnowledgeTable& descriptions) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& part : {tensor_of(descriptions.class_embedding), tensor_of(descriptions.association)}) {
    if (part.defined() && part.size(1) > 0) parts.push_back(rows_of_size_one(part.to(at::kFloat)));
  }
  return at::cat(parts, 1);
}

class SemAlignPrior : public KnowledgePrior {
 public:
  SemAlignPrior(TwoLayers net, DoubleVector factor) : net_(std::move(net)), factor_(std::move(factor)) {}

  [[nodiscard]] std::string name() const override { return kSemAlign; }
  [[nodiscard]] DoubleMatrix predict(const KnowledgeTable& descriptions) const override {
    const at::Tensor semantics = semantics_of(descriptions);
    if (semantics.size(1) != net_.in()) {
      fail("descriptions have {} values per class, the prior '{}' was fitted on {}; use the same knowledge",
           semantics.size(1), kSemAlign, net_.in());
    }
    const DoubleMatrix leading = matrix_of(net_(semantics));
    DoubleMatrix predicted = DoubleMatrix::Zero(leading.rows(), factor_.size());
    predicted.leftCols(leading.cols()) = leading * factor_.head(leading.cols()).asDiagonal();
    return predicted;
  }
  [[nodiscard]] std::shared_ptr<const KnowledgePrior> scaled(const DoubleVector& factor) const override {
    return std::make_shared<SemAlignPrior>(net_, factor_.cwiseProduct(factor));
  }
  void add_to(MethodState& state) const override {
    StateFields fields = StateFields::writing_to(state);
    TwoLayers(net_).fields(fields, kSemAlignNet, {-1, -1, -1}, kSemAlignSlope);
    add_numbers(state, kSemAlignFactor, factor_);
  }

 private:
  TwoLayers net_;        ///< to the leading dimensions
  DoubleVector factor_;  ///< of what it predicts, [e]
};

/// SemAlign's network and loss (L1) where there is no image: from the semantics alone to the class mean.
std::shared_ptr<const KnowledgePrior> train_sem_align(const PriorExamples& examples, uint64_t seed) {
  at::manual_seed(seed);
  const at::Tensor semantics = semantics_of(examples.descriptions);
  const at::Tensor target = tensor_of(FloatMatrix(examples.means.leftCols(examples.leading).cast<float>()));
  TwoLayers net = TwoLayers::untrained({semantics.size(1), kSemAlignHidden, examples.leading}, kSemAlignSlope);
  const auto loss = [&] { return at::l1_loss(net(semantics), target); };
  train_steps(net.parameters(), {kSemAlign, kSemAlignSteps, kSemAlignRate}, loss, nullptr, Progress::none());
  return std::make_shared<SemAlignPrior>(std::move(net), DoubleVector::Ones(examples.means.cols()));
}

PriorChoice choose_sem_align(const PriorExamples& examples, const PriorOptions& options) {
  return only_choice([seed = options.seed](const PriorExamples& base) { return train_sem_align(base, seed); }, examples,
                     options);
}

std::shared_ptr<const KnowledgePrior> load_sem_align(const MethodState& state, const KernelRidgeOptions& /*ridge*/,
                                                     int64_t dims) {
  if (!has_tensor(state, kSemAlignFactor)) return nullptr;
  TwoLayers net;
  StateFields fields = StateFields::reading_from(state);
  net.fields(fields, kSemAlignNet, {-1, -1, -1}, kSemAlignSlope);
  if (net.out() > dims) fail("'sem_align.output.weight' has {} rows, expected at most {}", net.out(), dims);
  return std::make_shared<SemAlignPrior>(std::move(net), numbers_in(state, kSemAlignFactor, dims));
}

}  // namespace

PriorKind sem_align_prior() { return {kSemAlign, choose_sem_align, load_sem_align}; }

}  // namespace protocom
