#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "fewshot/plda/detail/prior_kind.h"
#include "fewshot/plda/detail/state_matrices.h"

namespace protocom {
namespace {

constexpr const char* kSemAlign = "sem-align";
constexpr const char* kSemAlignNet = "sem_align.";
constexpr const char* kSemAlignFactor = "sem_align.factor";
constexpr float kSemAlignSlope = 0.2F;
constexpr int64_t kSemAlignHidden = 1024;
constexpr int64_t kSemAlignSteps = 100;
constexpr float kSemAlignRate = 3e-4F;

/// Linear, LeakyReLU, Linear.
struct SemAlignNet {
  FloatMatrix hidden_weight;       ///< [h, s]
  Eigen::RowVectorXf hidden_bias;  ///< [h]
  FloatMatrix output_weight;       ///< [l, h]
  Eigen::RowVectorXf output_bias;  ///< [l]

  [[nodiscard]] FloatMatrix linear(const FloatMatrix& x) const {
    return (x * hidden_weight.transpose()).rowwise() + hidden_bias;
  }
  [[nodiscard]] static FloatMatrix activated(const FloatMatrix& linear) {
    return linear.cwiseMax(kSemAlignSlope * linear);
  }
  [[nodiscard]] FloatMatrix output(const FloatMatrix& hidden) const {
    return (hidden * output_weight.transpose()).rowwise() + output_bias;
  }
};

/// Initialises weights and bias uniformly in +-1 / sqrt(inputs), as torch.nn.Linear does.
void begin_layer(int64_t out, int64_t in, Rng& rng, FloatMatrix& weight, Eigen::RowVectorXf& bias) {
  const double most = 1 / std::sqrt(static_cast<double>(in));
  const auto draw = [&] { return static_cast<float>(rng.uniform(-most, most)); };
  weight = FloatMatrix::NullaryExpr(out, in, draw);
  bias = Eigen::RowVectorXf::NullaryExpr(out, draw);
}

/// Adam (Kingma & Ba 2015) for arrays of one type, with its usual constants.
class Adam {
 public:
  void step(const Eigen::Ref<const Eigen::ArrayXf>& slope, int64_t number, Eigen::Ref<Eigen::ArrayXf> values) {
    constexpr float kFirst = 0.9F, kSecond = 0.999F, kTiny = 1e-8F;
    if (first_.size() == 0) first_ = second_ = Eigen::ArrayXf::Zero(values.size());
    first_ = kFirst * first_ + (1 - kFirst) * slope;
    second_ = kSecond * second_ + (1 - kSecond) * slope.square();
    const auto steps = static_cast<float>(number);
    const float rate = kSemAlignRate / (1 - std::pow(kFirst, steps));
    values -= rate * first_ / ((second_ / (1 - std::pow(kSecond, steps))).sqrt() + kTiny);
  }

 private:
  Eigen::ArrayXf first_, second_;
};

template <typename Matrix>
Eigen::Map<Eigen::ArrayXf> flat(Matrix& matrix) {
  return {matrix.data(), matrix.size()};
}

/// Trains by Adam on the mean of |net(semantics) - target|.
void train_net(const FloatMatrix& semantics, const FloatMatrix& target, SemAlignNet& net) {
  std::array<Adam, 4> adam;
  for (int64_t number = 1; number <= kSemAlignSteps; ++number) {
    const FloatMatrix linear = net.linear(semantics), hidden = SemAlignNet::activated(linear);
    const FloatMatrix error = net.output(hidden) - target;
    FloatMatrix of_output = error.cwiseSign() / static_cast<float>(error.size());
    FloatMatrix of_weight = of_output.transpose() * hidden;
    Eigen::RowVectorXf of_bias = of_output.colwise().sum();
    const FloatMatrix slope =
        (linear.array() > 0).select(FloatMatrix::Ones(linear.rows(), linear.cols()), kSemAlignSlope);
    const FloatMatrix of_linear = (of_output * net.output_weight).cwiseProduct(slope);
    FloatMatrix of_hidden_weight = of_linear.transpose() * semantics;
    Eigen::RowVectorXf of_hidden_bias = of_linear.colwise().sum();
    adam[0].step(flat(of_weight), number, flat(net.output_weight));
    adam[1].step(flat(of_bias), number, flat(net.output_bias));
    adam[2].step(flat(of_hidden_weight), number, flat(net.hidden_weight));
    adam[3].step(flat(of_hidden_bias), number, flat(net.hidden_bias));
  }
}

/// Returns the semantics of classes as one row each, [n, s]: words and attributes, each scaled to length 1.
FloatMatrix semantics_of(const KnowledgeTable& descriptions) {
  FloatMatrix all;
  for (const Array& given : {descriptions.class_embedding, descriptions.association}) {
    if (!given.defined() || given.size(1) == 0) continue;
    const Array part = given.to(NumberType::kFloat32);
    const FloatMatrix rows = unit_rows(matrix_of<float>(part)) * std::sqrt(static_cast<float>(part.size(1)));
    FloatMatrix both(rows.rows(), all.cols() + rows.cols());
    if (all.size() > 0) both.leftCols(all.cols()) = all;
    both.rightCols(rows.cols()) = rows;
    all = std::move(both);
  }
  return all;
}

class SemAlignPrior : public KnowledgePrior {
 public:
  SemAlignPrior(SemAlignNet net, DoubleVector factor) : net_(std::move(net)), factor_(std::move(factor)) {}

  [[nodiscard]] std::string name() const override { return kSemAlign; }
  [[nodiscard]] DoubleMatrix predict(const KnowledgeTable& descriptions) const override {
    const FloatMatrix semantics = semantics_of(descriptions);
    if (semantics.cols() != net_.hidden_weight.cols()) {
      fail("descriptions have {} dimensions, the prior '{}' was fitted on {}: use the same knowledge", semantics.cols(),
           kSemAlign, net_.hidden_weight.cols());
    }
    const DoubleMatrix leading = net_.output(SemAlignNet::activated(net_.linear(semantics))).cast<double>();
    DoubleMatrix predicted = DoubleMatrix::Zero(leading.rows(), factor_.size());
    predicted.leftCols(leading.cols()) = leading * factor_.head(leading.cols()).asDiagonal();
    return predicted;
  }
  [[nodiscard]] std::shared_ptr<const KnowledgePrior> scaled(const DoubleVector& factor) const override {
    return std::make_shared<SemAlignPrior>(net_, factor_.cwiseProduct(factor));
  }
  void add_to(MethodState& state) const override {
    const std::string net = kSemAlignNet;
    const auto bias = [](const Eigen::RowVectorXf& values) {
      return array_of_matrix(values).reshaped({values.size()});
    };
    add_array(state, net + "hidden.weight", array_of_matrix(net_.hidden_weight));
    add_array(state, net + "hidden.bias", bias(net_.hidden_bias));
    add_array(state, net + "output.weight", array_of_matrix(net_.output_weight));
    add_array(state, net + "output.bias", bias(net_.output_bias));
    add_numbers(state, kSemAlignFactor, factor_);
  }

 private:
  SemAlignNet net_;      ///< output: the leading dimensions
  DoubleVector factor_;  ///< of the predictions, [e]
};

/// Trains SemAlign's network with its loss (L1) in the case without images: from the semantics alone to the class mean.
std::shared_ptr<const KnowledgePrior> train_sem_align(const PriorExamples& examples, uint64_t seed) {
  const FloatMatrix semantics = semantics_of(examples.descriptions);
  const FloatMatrix target = examples.means.leftCols(examples.leading).cast<float>();
  Rng rng(seed);
  SemAlignNet net;
  begin_layer(kSemAlignHidden, semantics.cols(), rng, net.hidden_weight, net.hidden_bias);
  begin_layer(target.cols(), kSemAlignHidden, rng, net.output_weight, net.output_bias);
  train_net(semantics, target, net);
  return std::make_shared<SemAlignPrior>(std::move(net), DoubleVector::Ones(examples.means.cols()));
}

PriorChoice choose_sem_align(const PriorExamples& examples, const PriorOptions& options) {
  return only_choice([seed = options.seed](const PriorExamples& base) { return train_sem_align(base, seed); }, examples,
                     options);
}

std::shared_ptr<const KnowledgePrior> load_sem_align(const MethodState& state, const KernelRidgeOptions& /*ridge*/,
                                                     int64_t dims) {
  if (!has_tensor(state, kSemAlignFactor)) return nullptr;
  const std::string prefix = kSemAlignNet;
  SemAlignNet net;
  net.hidden_weight = matrix_in(state, prefix + "hidden.weight", -1, -1).cast<float>();
  net.hidden_bias = numbers_in(state, prefix + "hidden.bias", net.hidden_weight.rows()).transpose().cast<float>();
  net.output_weight = matrix_in(state, prefix + "output.weight", -1, net.hidden_weight.rows()).cast<float>();
  net.output_bias = numbers_in(state, prefix + "output.bias", net.output_weight.rows()).transpose().cast<float>();
  const int64_t out = net.output_weight.rows();
  if (out > dims) fail("'sem_align.output.weight' has {} rows, expected at most {}", out, dims);
  return std::make_shared<SemAlignPrior>(std::move(net), numbers_in(state, kSemAlignFactor, dims));
}

}  // namespace

PriorKind sem_align_prior() { return {kSemAlign, choose_sem_align, load_sem_align}; }

}  // namespace protocom
