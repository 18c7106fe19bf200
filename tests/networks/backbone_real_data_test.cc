#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/torch.h>

#include "base/error.h"
#include "base/threads.h"
#include "io/npz.h"
#include "networks/backbone.h"
#include "support/real_data.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

/// Writes the weights inside a TorchScript file as a state dict under their Python names.
void export_state_dict(const std::filesystem::path& torchscript, const std::filesystem::path& npz) {
  const torch::jit::Module module = torch::jit::load(torchscript.string());
  NpzWriter writer(npz);
  for (const auto& item : module.named_parameters()) writer.add(item.name, array_of(item.value));
  for (const auto& item : module.named_buffers()) writer.add(item.name, array_of(item.value));
  writer.close();
}

TEST(BackboneOnRealData, AStateDictGivesTheSameFeaturesAsTheTorchScriptFileItCameFrom) {
  REQUIRE_REAL_DATA();
  const testing::TempDir folder;
  const auto torchscript = *testing::real_data() / "tiny-imagenet-100-resnet12.pt";
  export_state_dict(torchscript, folder / "state.npz");
  NetworkOptions options;
  options.image_size = 64;
  const auto theirs = read_backbone(torchscript, options);
  const auto ours = read_backbone(folder / "state.npz", options);
  torch::manual_seed(1);
  for (const int64_t size : {64, 84}) {
    const at::Tensor images = at::rand({4, 3, size, size});
    const at::Tensor expected = theirs->forward(images);
    EXPECT_LT((ours->forward(images) - expected).abs().max().item<float>(), 1e-4) << size << " pixels";
    EXPECT_GT(expected.abs().max().item<float>(), 0.5);
  }
}

TEST(BackboneOnRealData, FrozenEncodersGiveTheSameFeatures) {
  REQUIRE_REAL_DATA();
  torch::manual_seed(1);
  for (const auto& [name, size] : {std::pair("tiny-imagenet-100-resnet12.pt", 64), {"mobilenet-v1-imagenet.pt", 224}}) {
    NetworkOptions options;
    options.image_size = size;
    const auto file = *testing::real_data() / name;
    const at::Tensor images = at::rand({5, 3, size, size});
    const at::Tensor expected = read_backbone(file, options)->forward(images);
    for (const int threads : {1, 2}) {
      const ThreadScope scope(threads);
      const auto frozen = read_backbone(file, options);
      frozen->freeze();
      EXPECT_LT((frozen->forward(images) - expected).abs().max().item<float>(), 1e-4) << name << ", " << threads;
      EXPECT_THROW(frozen->set_mode(BackboneMode::kTune), Error) << name << " was not frozen";
    }
  }
}

}  // namespace
}  // namespace protocom
