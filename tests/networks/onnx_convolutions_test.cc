#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "io/files.h"
#include "networks/onnx/detail/fuse.h"
#include "networks/onnx/detail/model.h"
#include "networks/onnx/detail/operators.h"
#include "networks/onnx/detail/plan.h"
#include "support/message_of.h"
#include "support/onnx_writer.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using protocom::testing::OnnxWriter;
using protocom::testing::TempDir;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

using Integers = std::map<std::string, std::vector<int64_t>>;

/// Parameters of a convolution, except for its channels.
struct Shape {
  int64_t window = 3;
  std::vector<int64_t> strides = {1, 1};
  std::vector<int64_t> pads = {1, 1, 1, 1};  ///< above, on the left, below, on the right
  std::vector<int64_t> dilations = {1, 1};
  int64_t groups = 1;
};

/// A graph that is both written and computed by ATen.
class Network {
 public:
  explicit Network(at::Tensor images) {
    values_["images"] = std::move(images);
    writer_.input("images", {-1, 3, values_["images"].size(2), values_["images"].size(3)});
  }

  std::string conv(const std::string& from, int64_t channels, const Shape& shape = {}) {
    const at::Tensor x = values_.at(from);
    const at::Tensor weight =
        wave({channels, x.size(1) / shape.groups, shape.window, shape.window}) *
        std::sqrt(2.0 / static_cast<double>(x.size(1) / shape.groups * shape.window * shape.window));
    const at::Tensor bias = wave({channels});
    const std::string name = next("conv");
    writer_.raw(name + ".w", weight);
    writer_.raw(name + ".b", bias);
    writer_.node("Conv", {from, name + ".w", name + ".b"}, {name},
                 {{{"pads", shape.pads}, {"strides", shape.strides}, {"dilations", shape.dilations}},
                  {{"group", shape.groups}}});
    const at::Tensor padded = at::constant_pad_nd(x, {shape.pads[1], shape.pads[3], shape.pads[0], shape.pads[2]}, 0);
    return keep(
        name, at::conv2d(padded, weight, bias, shape.strides, at::IntArrayRef({0, 0}), shape.dilations, shape.groups));
  }
  std::string clip(const std::string& from, float least, float most) {
    const std::string name = next("clip");
    writer_.raw(name + ".least", at::scalar_tensor(least));
    writer_.raw(name + ".most", at::scalar_tensor(most));
    writer_.node("Clip", {from, name + ".least", name + ".most"}, {name});
    return keep(name, values_.at(from).clamp(least, most));
  }
  std::string pool(const std::string& op, const std::string& from, const std::vector<int64_t>& pads = {1, 1, 1, 1}) {
    const std::string name = next("pool");
    writer_.node(op, {from}, {name}, {{{"kernel_shape", {3, 3}}, {"strides", {2, 2}}, {"pads", pads}}});
    const std::vector<int64_t> two = {2, 2};
    const std::vector<int64_t> three = {3, 3};
    if (op == "AveragePool") return keep(name, at::avg_pool2d(values_.at(from), three, two, {1, 1}, false, false));
    const at::Tensor padded = at::constant_pad_nd(values_.at(from), {pads[1], pads[3], pads[0], pads[2]}, -1e30);
    return keep(name, at::max_pool2d(padded, three, two));
  }
  /// Adds any operator without attributes, and its equivalent in ATen.
  std::string node(const std::string& op, const std::vector<std::string>& from,
                   const std::function<at::Tensor(const std::vector<at::Tensor>&)>& compute,
                   const Integers& integers = {}, const std::map<std::string, int64_t>& whole = {}) {
    const std::string name = next(op);
    writer_.node(op, from, {name}, {integers, whole});
    std::vector<at::Tensor> values;
    for (const std::string& value : from) values.push_back(values_.at(value));
    return keep(name, compute(values));
  }
  std::string relu(const std::string& from) {
    return node("Relu", {from}, [](const auto& in) { return in[0].relu(); });
  }
  std::string add(const std::string& a, const std::string& b) {
    return node("Add", {a, b}, [](const auto& in) { return in[0] + in[1]; });
  }
  std::string mean(const std::string& from) {
    return node("GlobalAveragePool", {from}, [](const auto& in) { return in[0].mean({2, 3}, true); });
  }
  void constant(const std::string& name, const at::Tensor& value) {
    writer_.raw(name, value, value.scalar_type() == at::kLong ? 7 : 1);
    values_[name] = value;
  }

  /// Returns the graph as read from a file, and simplified.
  [[nodiscard]] onnx::Model model(const std::string& output) {
    const TempDir folder;
    OnnxWriter whole = writer_;
    whole.output(output);
    write_file(folder / "network.onnx", whole.bytes());
    onnx::Model model = onnx::read_model(folder / "network.onnx");
    onnx::simplify(model, output);
    return model;
  }
  [[nodiscard]] const at::Tensor& value(const std::string& name) const { return values_.at(name); }

 private:
  static at::Tensor wave(at::IntArrayRef sizes) {
    static int64_t start = 0;
    start += 17;
    const int64_t count = at::empty(sizes).numel();
    return at::arange(start, start + count, at::kDouble).mul(1.7).sin().mul(5).sin().to(at::kFloat).view(sizes);
  }
  std::string next(const std::string& op) { return op + std::to_string(values_.size()); }
  std::string keep(const std::string& name, const at::Tensor& value) {
    values_[name] = value;
    return name;
  }

  OnnxWriter writer_;
  std::map<std::string, at::Tensor> values_;
};

at::Tensor wavy(int64_t count, int64_t side = 24) {
  return at::arange(count * 3 * side * side, at::kFloat).mul(0.37).sin().view({count, 3, side, side});
}

std::vector<std::string> kinds(const onnx::Model& model) {
  std::vector<std::string> all;
  for (const onnx::Node& node : model.nodes) all.push_back(node.op);
  return all;
}

void expect_same_maps(const at::Tensor& found, const at::Tensor& expected) {
  ASSERT_EQ(found.sizes(), expected.sizes());
  EXPECT_LT((found - expected).abs().max().item<float>(), 1e-5 * expected.abs().max().item<float>());
}

/// Expects plans for either use to give that value, for all images and for some of them, on one thread and on two.
void expect_computed(Network& network, const std::string& output) {
  const onnx::Model model = network.model(output);
  const at::Tensor all = network.value("images").contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor& expected = network.value(output);
  const int threads = at::get_num_threads();
  for (const auto use : {onnx::Plan::Use::kAny, onnx::Plan::Use::kFrozen}) {
    at::set_num_threads(1);
    const onnx::Plan plan(model, output, all.slice(0, 0, 1), use);
    for (const int some : {1, 2}) {
      at::set_num_threads(some);
      expect_same_maps(plan.first(), expected.slice(0, 0, 1));
      expect_same_maps(plan.run(all), expected);
      expect_same_maps(plan.run(all.slice(0, 1, 3)), expected.slice(0, 1, 3));
      expect_same_maps(plan.run(all.slice(0, 2, 3)), expected.slice(0, 2, 3));
    }
  }
  at::set_num_threads(threads);
}

TEST(OnnxConvolutions, ResidualSumsAndActivationsGoIntoThem) {
  Network network(wavy(5));
  const std::string start = network.relu(network.conv("images", 32, {7, {2, 2}, {3, 3, 3, 3}}));
  const std::string pooled = network.pool("MaxPool", start);
  const std::string inner = network.conv(network.relu(network.conv(pooled, 32)), 32);
  const std::string first = network.relu(network.add(inner, pooled));
  const std::string narrow = network.relu(network.conv(first, 48, {3, {2, 2}}));
  const std::string side = network.conv(first, 48, {1, {2, 2}, {0, 0, 0, 0}});
  const std::string second = network.relu(network.add(side, network.conv(narrow, 48)));
  const std::string output = network.mean(second);
  const onnx::Model model = network.model(output);
  EXPECT_THAT(kinds(model), Not(Contains("Add")));
  EXPECT_THAT(kinds(model), Not(Contains("Relu")));
  EXPECT_EQ(model.nodes.size(), 8U);
  expect_computed(network, output);
  expect_computed(network, second);
}

TEST(OnnxConvolutions, WhatAnotherTakesAsWellStaysOutOfThem) {
  Network network(wavy(4));
  const std::string shared = network.conv(network.relu(network.conv("images", 24)), 24);
  const std::string both = network.add(network.relu(shared), shared);  // the ReLU's input is used twice
  const std::string twice = network.conv(both, 24);
  const std::string doubled = network.add(twice, twice);
  const std::string output = network.mean(network.add(network.conv(doubled, 24), doubled));
  EXPECT_THAT(kinds(network.model(output)), Contains("Relu"));
  EXPECT_THAT(kinds(network.model(output)), Contains("Add"));
  expect_computed(network, output);
  expect_computed(network, network.relu(shared));
}

TEST(OnnxConvolutions, OfEachChannelForItselfUnevenAndWithGaps) {
  Network network(wavy(4, 27));
  const std::string first = network.clip(network.conv("images", 24, {3, {2, 2}, {0, 0, 1, 1}}), 0, 6);
  const std::string wide = network.clip(network.conv(first, 40, {1, {1, 1}, {0, 0, 0, 0}}), 0, 1.5F);
  const std::string deep = network.clip(network.conv(wide, 40, {3, {2, 1}, {1, 2, 0, 1}, {1, 1}, 40}), -1, 1);
  const std::string gaps = network.conv(deep, 24, {3, {1, 1}, {2, 2, 2, 2}, {2, 2}});
  const std::string output = network.add(network.conv(gaps, 24, {3, {1, 1}, {1, 0, 1, 2}}), gaps);
  EXPECT_THAT(kinds(network.model(output)), Not(Contains("Clip")));
  expect_computed(network, output);
  expect_computed(network, deep);
}

TEST(OnnxConvolutions, InGroupsOfWholeBlocksAndOfFewer) {
  for (const int64_t groups : {2, 8}) {
    Network network(wavy(3));
    const std::string first = network.relu(network.conv("images", 64));
    const std::string grouped = network.relu(network.conv(first, 64, {3, {1, 1}, {1, 1, 1, 1}, {1, 1}, groups}));
    expect_computed(network, network.relu(network.add(network.conv(grouped, 64), first)));
  }
}

TEST(OnnxConvolutions, AChannelThatFillsABlockUpStaysZero) {
  Network network(wavy(3));
  const std::string raised = network.clip(network.conv(network.conv("images", 2), 20), 0.5F, 2);  // zero becomes a half
  const std::string output = network.conv(raised, 20);
  expect_computed(network, output);
  Network apart(wavy(3));
  const std::string shared = apart.conv("images", 20);
  const std::string lifted = apart.clip(shared, 0.5F, 2);
  expect_computed(apart, apart.add(apart.conv(lifted, 20), apart.conv(shared, 20)));
}

TEST(OnnxConvolutions, GatesPoolsAndOtherOperatorsBetweenThem) {
  Network network(wavy(4));
  const std::string maps =
      network.node("HardSwish", {network.conv("images", 24)}, [](const auto& in) { return at::hardswish(in[0]); });
  const std::string few = network.relu(network.conv(network.mean(maps), 8, {1, {1, 1}, {0, 0, 0, 0}}));
  const std::string gate = network.node("Sigmoid", {network.conv(few, 24, {1, {1, 1}, {0, 0, 0, 0}})},
                                        [](const auto& in) { return in[0].sigmoid(); });
  const std::string gated = network.node("Mul", {maps, gate}, [](const auto& in) { return in[0] * in[1]; });
  const std::string left = network.conv(network.pool("AveragePool", gated), 20);
  const std::string right = network.pool("MaxPool", network.conv(gated, 12), {0, 0, 2, 2});
  const std::string together = network.node("Concat", {left, right},
                                            [](const auto& in) {
                                              return at::cat({in[0], in[1]}, 1);
                                            },
                                            {}, {{"axis", 1}});
  network.constant("shift", at::arange(32, at::kFloat).view({1, 32, 1, 1}));
  network.constant("map", wavy(1, 12).narrow(1, 0, 1).repeat({1, 32, 1, 1}));
  const std::string shifted = network.add(network.conv(together, 32), "shift");
  const std::string output = network.add(network.conv(shifted, 32), "map");
  expect_computed(network, output);
  expect_computed(network, network.mean(output));
}

/// One image with a part of the channels counts as contiguous, with the strides of all of them.
TEST(OnnxConvolutions, APartOfTheChannelsIsReadAsItLies) {
  const Shape one_place = {1, {1, 1}, {0, 0, 0, 0}};
  Network network(wavy(3));
  network.constant("from", at::tensor({4}, at::kLong));
  network.constant("to", at::tensor({12}, at::kLong));
  network.constant("axis", at::tensor({1}, at::kLong));
  const auto part = [&](const std::string& name) {
    return network.node("Slice", {name, "from", "to", "axis"}, [](const auto& in) { return in[0].slice(1, 4, 12); });
  };
  const std::string maps = network.conv("images", 20);
  expect_computed(network, network.conv(part(maps), 5, one_place));
  expect_computed(network, network.conv(part(network.mean(maps)), 5, one_place));
}

/// PaddlePaddle writes a convolution's bias in this form.
TEST(OnnxConvolutions, ASumOfWhatTheGraphMakesOfConstantsIsAdded) {
  const Shape one_place = {1, {1, 1}, {0, 0, 0, 0}};
  for (const int64_t channels : {8, 16, 24}) {
    Network network(wavy(3));
    network.constant("bias", at::tensor({0.5F, -0.3F}));
    network.constant("sizes", at::tensor({1, 2, 1, 1}, at::kLong));
    const std::string bias = network.node("Reshape", {"bias", "sizes"}, [](const auto& in) {
      return in[0].view({1, 2, 1, 1});
    });
    const std::string maps = network.relu(network.conv("images", channels));
    expect_computed(network, network.relu(network.add(network.conv(network.mean(maps), 2, one_place), bias)));
  }
}

TEST(OnnxConvolutions, NumbersOfAnotherKindAreRefused) {
  Network network(wavy(2));
  const std::string wide =
      network.node("Cast", {"images"}, [](const auto& in) { return in[0].to(at::kFloat); }, {}, {{"to", 11}});
  const std::string output = network.relu(network.conv(wide, 24));
  const onnx::Model model = network.model(output);
  const at::Tensor image = network.value("images").slice(0, 0, 1);
  for (const auto use : {onnx::Plan::Use::kAny, onnx::Plan::Use::kFrozen})
    EXPECT_THAT(message_of([&] { onnx::Plan(model, output, image, use); }), HasSubstr("Conv"));
}

TEST(OnnxConvolutions, ThreadsRunOnePlanBesideOneAnother) {
  Network network(wavy(6));
  const std::string first = network.relu(network.conv("images", 32));
  const std::string output = network.relu(network.add(network.conv(first, 32), first));
  const at::Tensor all = network.value("images").contiguous(at::MemoryFormat::ChannelsLast);
  const onnx::Plan plan(network.model(output), output, all.slice(0, 0, 1), onnx::Plan::Use::kFrozen);
  std::vector<at::Tensor> found(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) found[i] = plan.run(all.slice(0, 0, static_cast<int64_t>(i) + 2));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const at::Tensor& one : found) expect_same_maps(one, network.value(output).slice(0, 0, one.size(0)));
}

}  // namespace
}  // namespace protocom
