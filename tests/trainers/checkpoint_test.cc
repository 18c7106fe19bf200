#include "trainers/detail/checkpoint.h"

#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "io/files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using protocom::testing::TempDir;
using ::testing::HasSubstr;

Checkpoint small_state() {
  Checkpoint state;
  state.header = make_header("backbone", 1, {});
  state.artefact = {{"layer.weight", at::tensor({0.1F, -2.5F, 1e-42F})}, {"layer.steps", at::tensor(7, at::kLong)}};
  state.training = {{"scale", at::tensor(10.0)}};
  state.bytes = {{"blob", std::string("a\0b", 3)}};
  state.made_by = {{"epochs", 3}, {"learning_rate", 0.1}};
  state.position = {{"epoch", 1}, {"step", 2}, {"loss", 0.1 + 0.2}, {"none", nullptr}};
  return state;
}

bool same_tensors(const NamedTensors& a, const NamedTensors& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].first != b[i].first || a[i].second.scalar_type() != b[i].second.scalar_type() ||
        !at::equal(a[i].second, b[i].second))
      return false;
  }
  return true;
}

bool same(const Checkpoint& a, const Checkpoint& b) {
  return same_tensors(a.artefact, b.artefact) && same_tensors(a.training, b.training) && a.bytes == b.bytes &&
         a.made_by == b.made_by && a.position == b.position && a.header->kind == b.header->kind;
}

TEST(Checkpoint, ComesBackToTheLastBit) {
  const TempDir folder;
  const Checkpoint state = small_state();
  write_checkpoint(folder / "a.last", state);
  const Checkpoint back = read_checkpoint(folder / "a.last");
  EXPECT_TRUE(same(state, back));
  EXPECT_EQ(back.position.at("loss").get<double>(), 0.1 + 0.2) << "which is not 0.3";
  EXPECT_EQ(back.path, folder / "a.last");
  EXPECT_EQ(back.header->details.at("training").at("step"), 2) << "for `protocom show`";
}

TEST(Checkpoint, GeneratorsGoOnWhereTheyWere) {
  const TempDir folder;
  Rng rng(5);
  at::Generator noise = at::make_generator<at::CPUGeneratorImpl>(uint64_t{9});
  for (int i = 0; i < 100; ++i) rng.next();
  at::randn({101}, noise);  // an odd number: the cached half of a pair is part of the state
  Checkpoint state = small_state();
  state.add_rng("rng", rng);
  state.add_generator("noise", noise);
  write_checkpoint(folder / "a.last", state);
  const uint64_t next = rng.next();
  const at::Tensor drawn = at::randn({50}, noise);

  const Checkpoint back = read_checkpoint(folder / "a.last");
  EXPECT_EQ(back.rng("rng").next(), next);
  at::Generator other = at::make_generator<at::CPUGeneratorImpl>(uint64_t{1});
  back.load_generator("noise", other);
  EXPECT_TRUE(at::equal(at::randn({50}, other), drawn));
}

TEST(Checkpoint, LibTorchsOwnGeneratorGoesOnToo) {
  torch::manual_seed(3);
  at::rand({7});
  Checkpoint state;
  state.add_generator("torch", at::detail::getDefaultCPUGenerator());
  const at::Tensor drawn = at::rand({5});
  torch::manual_seed(4);
  state.load_generator("torch", at::detail::getDefaultCPUGenerator());
  EXPECT_TRUE(at::equal(at::rand({5}), drawn));
}

/// Takes one step down the parabola p^2.
void step(torch::optim::SGD& optimizer, const at::Tensor& parameter) {
  optimizer.zero_grad();
  parameter.square().sum().backward();
  optimizer.step();
}

TEST(Checkpoint, MomentumGoesOnWhereItWas) {
  const TempDir folder;
  const auto options = torch::optim::SGDOptions(0.1).momentum(0.9).nesterov(true);
  const at::Tensor one = at::full({4}, 2.0).requires_grad_(true);
  torch::optim::SGD first({one}, options);
  for (int i = 0; i < 3; ++i) step(first, one);
  Checkpoint state = small_state();
  state.training = {{"p", one}};
  state.add_optimizer("optimizer", first);
  write_checkpoint(folder / "a.last", state);
  for (int i = 0; i < 3; ++i) step(first, one);

  const at::Tensor other = at::zeros({4}, at::kDouble).to(at::kFloat).requires_grad_(true);
  torch::optim::SGD second({other}, options);
  const Checkpoint back = read_checkpoint(folder / "a.last");
  back.load_training({{"p", other}});
  back.load_optimizer("optimizer", second);
  for (int i = 0; i < 3; ++i) step(second, other);
  EXPECT_TRUE(at::equal(one, other));
}

TEST(Checkpoint, AFlippedBitIsNoticedOrChangesNothing) {
  const TempDir folder;
  const Checkpoint state = small_state();
  write_checkpoint(folder / "whole", state);
  const std::string whole = read_file(folder / "whole");
  size_t noticed = 0;
  size_t tried = 0;
  for (size_t i = 0; i < whole.size(); i += 3, ++tried) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
    std::ofstream(folder / "flipped", std::ios::binary) << flipped;
    try {
      ASSERT_TRUE(same(state, read_checkpoint(folder / "flipped"))) << "bit " << i % 8 << " of byte " << i;
    } catch (const Error& error) {
      ++noticed;
      ASSERT_THAT(error.what(), HasSubstr((folder / "flipped").string()));
    }
  }
  // Times, permissions and such in the archive's directory do not matter; names and values are most of the file.
  EXPECT_GT(noticed, tried / 2);
}

TEST(Checkpoint, AFileThatIsCutShortIsNoticedWhereverTheCutIs) {
  const TempDir folder;
  write_checkpoint(folder / "whole", small_state());
  const std::string whole = read_file(folder / "whole");
  for (size_t size = 0; size < whole.size(); size += 7) {
    std::ofstream(folder / "cut", std::ios::binary) << whole.substr(0, size);
    EXPECT_THROW(read_checkpoint(folder / "cut"), Error) << size;
  }
}

TEST(Checkpoint, ValuesThatAreNotFiniteAreNotWritten) {
  const TempDir folder;
  write_checkpoint(folder / "a.last", small_state());
  const std::string before = read_file(folder / "a.last");
  Checkpoint state = small_state();
  state.artefact[0].second[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(message_of([&] { write_checkpoint(folder / "a.last", state); }),
              HasSubstr("'layer.weight' is not finite"));
  EXPECT_EQ(read_file(folder / "a.last"), before);
}

TEST(Checkpoint, NamesTheOptionThatDiffers) {
  Checkpoint state = small_state();
  state.path = "a.last";
  check_made_by(state, {{"epochs", 3}, {"learning_rate", 0.1}});
  EXPECT_THAT(message_of([&] {
                check_made_by(state, {{"epochs", 3}, {"learning_rate", 0.2}});
              }),
              HasSubstr("a.last comes from another training (learning_rate was 0.1, is 0.2)"));
  EXPECT_THAT(message_of([&] {
                check_made_by(state, {{"epochs", 3}});
              }),
              HasSubstr("learning_rate was 0.1, is missing"));
}

TEST(Checkpoint, RefusesTensorsOfAnotherShapeAndFilesThatAreNone) {
  const TempDir folder;
  Checkpoint state = small_state();
  state.path = "a.last";
  EXPECT_THAT(message_of([&] {
                state.load_training({{"scale", at::zeros({2})}});
              }),
              HasSubstr("'scale' has shape [1], this training's has [2]"));
  EXPECT_THAT(message_of([&] { state.load_training({{"bias", at::zeros({2})}}); }), HasSubstr("no entry 'bias'"));
  NpzWriter writer(folder / "b.npz");
  writer.add("x", array_of(at::zeros({1})));
  writer.close();
  EXPECT_THAT(message_of([&] { read_checkpoint(folder / "b.npz"); }), HasSubstr("is not a state of a training"));
}

}  // namespace
}  // namespace protocom
