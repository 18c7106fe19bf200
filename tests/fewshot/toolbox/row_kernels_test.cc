#include "fewshot/row_kernels.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fewshot/toolbox/detail/class_kernels.h"
#include "fewshot/vector_form.h"
#include "heads/cosine_classifier.h"
#include "heads/gauss_fusion.h"
#include "support/golden.h"
#include "support/vector_forms.h"

namespace protocom {
namespace {

using protocom::testing::error_of;
using protocom::testing::golden;
using protocom::testing::tensor_of;

/// Float32 rows padded with zeros, and pointers to them.
struct Rows {
  explicit Rows(const at::Tensor& values)
      : padded(at::constant_pad_nd(values.to(at::kFloat), {0, padded_length(values.size(1)) - values.size(1)})
                   .contiguous()) {
    for (int64_t i = 0; i < count(); ++i) pointers.push_back(data() + i * dim());
  }
  [[nodiscard]] int64_t count() const { return padded.size(0); }
  [[nodiscard]] int64_t dim() const { return padded.size(1); }
  [[nodiscard]] const float* data() const { return padded.data_ptr<float>(); }

  at::Tensor padded;
  std::vector<const float*> pointers;
};

at::Tensor dots_of(const Rows& rows, const Rows& prototypes) {
  at::Tensor out = at::full({rows.count(), prototypes.count()}, 99.0);
  row_dots({rows.pointers.data(), rows.count(), prototypes.data(), prototypes.count(), rows.dim(), prototypes.count()},
           out.data_ptr<float>());
  return out;
}

/// Runs every form of the inner loops that this processor has, then restores the previous one.
class RowKernels : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { use_vector_form(GetParam()); }

  const testing::VectorFormKept kept_;
  at::Generator generator_ = at::detail::createCPUGenerator(3);
  at::Tensor random(at::IntArrayRef shape) { return at::randn(shape, generator_); }
};

TEST_P(RowKernels, MultiplyEveryNumberOfRowsAndPrototypes) {
  for (const int64_t dim : {16, 48, 512}) {
    for (const int64_t count : {1, 2, 3, 4, 7, 75}) {
      for (const int64_t n : {1, 4, 5, 9, 10, 13}) {
        const at::Tensor x = random({count, dim});
        const at::Tensor p = random({n, dim});
        const at::Tensor expected = at::mm(x.to(at::kDouble), p.to(at::kDouble).t());
        EXPECT_LT(error_of(dots_of(Rows(x), Rows(p)), expected), 1e-5) << dim << " " << count << " " << n;
      }
    }
  }
}

TEST_P(RowKernels, GiveAPairTheSameProductWhateverStandsBesideIt) {
  const Rows x(random({11, 80}));
  const Rows p(random({13, 80}));
  const at::Tensor all = dots_of(x, p);
  for (int64_t i = 0; i < x.count(); ++i) {
    for (int64_t j = 0; j < p.count(); ++j)
      EXPECT_EQ(all[i][j].item<float>(),
                row_dot(x.pointers[static_cast<size_t>(i)], p.pointers[static_cast<size_t>(j)], x.dim()));
  }
}

TEST_P(RowKernels, MultiplyRowsAndColumnsThatLieAnywhere) {
  for (const int64_t n : {1, 3, 5, 12}) {
    Rows x(random({6, 48}));
    Rows y(random({n, 48}));
    std::reverse(y.pointers.begin(), y.pointers.end());
    at::Tensor products = at::full({6, 16}, 7.0);
    products_of_rows({x.pointers.data(), 6, y.pointers.data(), n, 48, 16}, products.data_ptr<float>());
    const at::Tensor expected = at::mm(x.padded.to(at::kDouble), y.padded.flip(0).to(at::kDouble).t());
    EXPECT_LT(error_of(products.slice(1, 0, n), expected), 1e-5) << n;
    EXPECT_TRUE(products.slice(1, n).eq(7).all().item<bool>()) << "what is beyond is not touched";
  }
}

TEST_P(RowKernels, FindTheSecondSmallest) {
  for (const int64_t count : {16, 32, 80}) {
    for (int64_t trial = 0; trial < 20; ++trial) {
      const at::Tensor values = random({count});
      EXPECT_EQ(second_smallest(values.data_ptr<float>(), count), std::get<0>(values.sort())[1].item<float>());
    }
  }
  at::Tensor equal = at::full({32}, 3.0);
  equal[7] = -1;
  equal[23] = -1;
  EXPECT_EQ(second_smallest(equal.data_ptr<float>(), 32), -1) << "two are the smallest";
}

TEST_P(RowKernels, BringARowAboutACentreToUnitLength) {
  const Rows x(random({2, 48}));
  at::Tensor out = at::empty({48});
  unit_row(x.pointers[0], x.pointers[1], 48, out.data_ptr<float>());
  const at::Tensor difference = x.padded[0].to(at::kDouble) - x.padded[1].to(at::kDouble);
  EXPECT_LT(error_of(out, difference / difference.norm()), 1e-6);
  unit_row(x.pointers[0], x.pointers[0], 48, out.data_ptr<float>());
  EXPECT_TRUE(out.eq(0).all().item<bool>()) << "zeros have no direction";
}

TEST_P(RowKernels, MultiplyRowsThatLieAnywhereWithOneAnother) {
  for (const int64_t count : {1, 4, 5, 9, 16, 80}) {
    Rows x(random({count, 48}));
    std::reverse(x.pointers.begin(), x.pointers.end());
    const int64_t stride = padded_length(count);
    at::Tensor gram = at::full({count, stride}, 7.0);
    gram_of_rows({x.pointers.data(), count, 48, stride}, gram.data_ptr<float>());
    const at::Tensor wide = x.padded.flip(0).to(at::kDouble);
    EXPECT_LT(error_of(gram.slice(1, 0, count), at::mm(wide, wide.t())), 1e-5) << count;
    EXPECT_TRUE(gram.slice(1, 0, count).equal(gram.slice(1, 0, count).t())) << count;
    EXPECT_TRUE(gram.slice(1, count).eq(7).all().item<bool>()) << "what is beyond is not touched";
  }
}

TEST_P(RowKernels, SumRowsByTheWeightsOfEachSum) {
  for (const int64_t dim : {16, 48, 272}) {
    for (const int64_t n : {1, 2, 4, 5, 6, 9}) {
      const Rows x(random({37, dim}));
      const at::Tensor weights = random({n, 48});
      at::Tensor sums = at::full({n, dim}, 7.0);
      sums_of_rows({x.pointers.data(), 37, weights.data_ptr<float>(), n, 48, dim}, sums.data_ptr<float>());
      const at::Tensor expected = at::mm(weights.slice(1, 0, 37).to(at::kDouble), x.padded.to(at::kDouble));
      EXPECT_LT(error_of(sums, expected), 1e-5) << dim << " " << n;
    }
  }
  at::Tensor none = at::full({1, 16}, 7.0);
  sums_of_rows({nullptr, 0, nullptr, 1, 0, 16}, none.data_ptr<float>());
  EXPECT_TRUE(none.eq(0).all().item<bool>()) << "the sum of no rows";
}

TEST_P(RowKernels, ShareEachPointAmongItsClasses) {
  const at::Tensor logits = 30 * random({6, 48});
  const at::Tensor factors = at::rand({6}, generator_) + 0.1;
  at::Tensor values = logits.clone();
  exponentials_of_classes(values.data_ptr<float>(), 6, 48);
  const at::Tensor wide = logits.to(at::kDouble);
  EXPECT_LT(error_of(values, (wide - wide.amax(0, true)).exp()), 1e-5);
  at::Tensor shares = values.clone();
  shares_of_classes(nullptr, shares.data_ptr<float>(), 6, 48);
  EXPECT_LT(error_of(shares, wide.softmax(0)), 1e-5);
  shares_of_classes(factors.data_ptr<float>(), values.data_ptr<float>(), 6, 48);
  EXPECT_LT(error_of(values, (wide + factors.to(at::kDouble).log().unsqueeze(1)).softmax(0)), 1e-5);
}

TEST_P(RowKernels, SumRowsAndTheirSquaresByWeight) {
  for (const int64_t n : {1, 2, 4, 5, 10, 11, 23}) {
    const Rows x(random({37, 48}));
    const at::Tensor w = at::rand({37, n}, generator_);
    at::Tensor sum = at::ones({n, 48});
    at::Tensor squares = at::ones({n, 48});
    weighted_moments({x.pointers.data(), 37, w.data_ptr<float>(), n, 48}, sum.data_ptr<float>(),
                     squares.data_ptr<float>());
    const at::Tensor wide = x.padded.to(at::kDouble);
    const at::Tensor weight = w.to(at::kDouble).t();
    EXPECT_LT(error_of(sum, at::mm(weight, wide)), 1e-5) << n;
    EXPECT_LT(error_of(squares, at::mm(weight, wide * wide)), 1e-5) << n;
  }
}

TEST_P(RowKernels, TurnLogitsIntoProbabilities) {
  for (const double scale : {1.0, 10.0, 300.0}) {  // with the last, all but one class underflow
    at::Tensor logits = scale * random({31, 7});
    const at::Tensor expected = logits.to(at::kDouble).softmax(1);
    softmax_rows(logits.data_ptr<float>(), 31, 7);
    EXPECT_LT(error_of(logits, expected), 1e-5);
    EXPECT_LT(error_of(logits.sum(1), at::ones({31}, at::kDouble)), 1e-6);
  }
}

TEST_P(RowKernels, ApplyALayerToEachRowIndependentlyOfTheOthers) {
  constexpr int64_t kRows = 45;
  for (const int64_t depth : {1, 8, 16, 37, 64}) {
    const at::Tensor weight = random({depth, 2 * kPanelWidth});  // [in, out]
    const at::Tensor bias = random({2 * kPanelWidth});
    const at::Tensor in = random({kRows, depth});
    const at::Tensor panels = at::stack({weight.narrow(1, 0, kPanelWidth), weight.narrow(1, kPanelWidth, kPanelWidth)});
    // Also with half a panel, and with fewer than two of a processor's vectors.
    for (const int64_t width : {2 * kPanelWidth, 2 * kPanelWidth - kRowMultiple, kRowMultiple}) {
      const auto apply = [&](int64_t first, int64_t rows) {
        at::Tensor out = at::empty({rows, width});
        dense_rows({in.data_ptr<float>() + first * depth, depth, rows, depth, panels.data_ptr<float>(),
                    bias.data_ptr<float>(), width},
                   out.data_ptr<float>());
        return out;
      };
      const at::Tensor all = apply(0, kRows);
      const at::Tensor expected = bias.to(at::kDouble) + at::mm(in.to(at::kDouble), weight.to(at::kDouble));
      EXPECT_LT(error_of(all, expected.slice(1, 0, width)), 1e-5);
      for (int64_t row = 0; row < kRows; ++row) EXPECT_TRUE(apply(row, 1)[0].equal(all[row])) << row;
      for (int64_t rows = 2; rows < kRows; ++rows)
        EXPECT_TRUE(apply(kRows - rows, rows).equal(all.slice(0, kRows - rows))) << rows << " of depth " << depth;
    }
  }
}

TEST_P(RowKernels, ScaleATransportPlanUntilItsRowsAndColumnsHaveTheirMass) {
  constexpr int64_t kRows = 21;
  const int64_t stride = padded_length(kRows);
  at::Tensor kernel = at::zeros({3, stride});
  kernel.slice(1, 0, kRows).copy_(random({3, kRows}).exp());
  const at::Tensor columns = at::tensor({4.0F, 10.0F, 7.0F});
  at::Tensor scales = at::empty({3});
  std::vector<float> work(static_cast<size_t>(2 * stride));
  transport_scales({kernel.data_ptr<float>(), 3, stride, columns.data_ptr<float>(), 1e-6F, 1000, work.data()},
                   scales.data_ptr<float>());
  const at::Tensor scaled = (kernel * scales.unsqueeze(1)).slice(1, 0, kRows).to(at::kDouble);
  const at::Tensor plan = scaled / scaled.sum(0, true);  // every row's sum is 1
  EXPECT_LT((plan.sum(1) - columns).abs().max().item<double>(), 1e-4);
}

TEST_P(RowKernels, ScoreAPairAndAddItsCode) {
  const Rows rows(random({3, 32}));
  const float* a = rows.pointers[0];
  const float* b = rows.pointers[1];
  const float* w = rows.pointers[2];
  const at::Tensor wide = rows.padded.to(at::kDouble);
  EXPECT_NEAR(relu_dot(a, b, w, 32), (wide[2] * (wide[0] + wide[1]).clamp_min(0)).sum().item<double>(), 1e-5);
  at::Tensor out = at::ones({32});
  add_scaled_row(-2.5F, a, 32, out.data_ptr<float>());
  EXPECT_LT(error_of(out, 1 - 2.5 * wide[0]), 1e-6);
}

TEST_P(RowKernels, FuseAsTheEquationsDoStepByStep) {
  const auto data = golden("fusion");
  const Rows queries(tensor_of(data.at("queries")));
  const auto weights_of = [&](const at::Tensor& prototypes) {
    const Rows rows(prototypes);
    at::Tensor weights = dots_of(queries, rows);
    const at::Tensor norms = queries.padded.norm(2, 1, true) * rows.padded.norm(2, 1).unsqueeze(0);
    weights = (10.0 * weights / norms).contiguous();
    softmax_rows(weights.data_ptr<float>(), queries.count(), rows.count());
    return weights;
  };
  const at::Tensor by_mean = weights_of(tensor_of(data.at("mean")));
  const at::Tensor by_completed = weights_of(tensor_of(data.at("completed")));
  EXPECT_LT(error_of(by_mean, tensor_of(data.at("probability"))), 1e-5);
  const at::Tensor expected = tensor_of(data.at("fused"));
  const int64_t n = expected.size(0);
  struct Sums {
    at::Tensor sum, squares, total;
  };
  Sums supports{at::zeros({n, queries.dim()}), at::zeros({n, queries.dim()}), at::zeros({n})};
  for (int64_t k = 0; k < n; ++k) {
    const Rows support(tensor_of(data.at("supports")[static_cast<size_t>(k)]));
    supports.sum[k] += support.padded.sum(0);
    supports.squares[k] += (support.padded * support.padded).sum(0);
    supports.total[k] += support.count();
  }
  const auto sums_of = [&](const at::Tensor& weights) {
    Sums sums{at::zeros({n, queries.dim()}), at::zeros({n, queries.dim()}), supports.total + weights.sum(0)};
    weighted_moments({queries.pointers.data(), queries.count(), weights.data_ptr<float>(), n, queries.dim()},
                     sums.sum.data_ptr<float>(), sums.squares.data_ptr<float>());
    return sums;
  };
  const Sums a = sums_of(by_mean);
  const Sums b = sums_of(by_completed);
  at::Tensor fused = at::empty({n, queries.dim()});
  for (int64_t k = 0; k < n; ++k) {
    const auto row = [k](const at::Tensor& t) { return t.data_ptr<float>() + k * t.size(1); };
    fuse_row({row(supports.sum), row(supports.squares), row(a.sum), row(a.squares), a.total[k].item<float>(),
              row(b.sum), row(b.squares), b.total[k].item<float>(), 1e-9F, queries.dim()},
             row(fused));
  }
  EXPECT_LT(error_of(fused.narrow(1, 0, expected.size(1)), expected), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(OfThisProcessor, RowKernels, ::testing::ValuesIn(vector_form_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace protocom
