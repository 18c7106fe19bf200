#include "networks/detail/torchscript_backbone.h"

#include <fmt/ranges.h>

#include <mutex>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/running_program.h"
#include "base/text.h"
#include "encoders/chosen_preprocessing.h"
#include "io/files.h"
#include "io/json.h"
#include "io/memory_file.h"
#include "networks/detail/image_tensors.h"
#include "networks/detail/module_backbone.h"
#include "networks/detail/script_output.h"

namespace protocom {
namespace {

/// An extra file that torch.jit.save(module, path, _extra_files={"preprocessing.json": ...}) adds to the program.
constexpr const char* kStatement = "preprocessing.json";

/// The extra file that names the output that is the feature, if a program returns several.
constexpr const char* kOutput = "output";

/// The method that returns feature maps, if a program has it.
constexpr const char* kMaps = "forward_maps";

/// The remedy for a program that was made from a module in training mode.
constexpr const char* kMadeForTraining =
    "it was saved in training mode: save it again by `torch.jit.trace(model.eval(), images).save('encoder.pt')`";

/// Returns the remedy for an operator that this LibTorch lacks, or for one image alone in training mode; empty for
/// other reasons.
std::string remedy_for(const std::string& reason) {
  if (reason.find("more than 1 value per channel when training") != std::string::npos)
    return fmt::format("; {}", kMadeForTraining);
  if (reason.find("Unknown builtin op") == std::string::npos) return "";
  return fmt::format(
      "; it was made by a newer PyTorch than the {} here: trace it with eager attention "
      "(timm.layers.set_fused_attn(False)) or with an older PyTorch",
      TORCH_VERSION);
}

/// Returns the last line of a program's error, after its trace; for another processor or precision inside it, an
/// explanation.
std::string reason_in_script(const std::exception& error) {
  const std::string text = error.what();
  if (text.find("'Half'") != std::string::npos || text.find("type Half") != std::string::npos)
    return "its weights are float16, which is not supported on the CPU: save it after model.float()";
  if (text.find("cuda:") != std::string::npos || text.find("'CUDA' backend") != std::string::npos)
    return "it has tensors on a GPU: trace it again after model.cpu(), with images on the CPU";
  if (text.find("TorchScript interpreter") == std::string::npos) return reason_of(error);
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  const std::string all(trimmed(torch == nullptr ? text : std::string(torch->what_without_backtrace())));
  return one_line(all.substr(all.rfind('\n') + 1));
}

/// Serialises reading and preparing programs: LibTorch does not guarantee that several may run at once.
std::mutex& preparing() {
  static std::mutex mutex;
  return mutex;
}

/// Warns once per program and process, whatever its path: a recognizer holds a copy.
void warn_of_program(const std::filesystem::path& path) {
  static std::set<std::string> warned;
  if (!warned.insert(hash_file(path)).second) return;
  logger().info("{} is a TorchScript program: use only what you trust", shown(path));
}

torch::jit::Module load(const std::filesystem::path& path, torch::jit::ExtraFilesMap& extra) {
  const std::lock_guard lock(preparing());
  warn_of_program(path);
  const RunningProgram running(shown(path));
  try {
    return torch::jit::load(path.string(), c10::Device(c10::kCPU), extra);
  } catch (const std::exception& error) {
    fail("{} cannot be loaded as TorchScript: {}{}", shown(path), reason_in_script(error), remedy_for(error.what()));
  }
}

/// Returns the attribute `image_size`: 224, or [224, 224] as in timm; 0 if there is none.
int64_t size_attribute(const torch::jit::Module& module) {
  if (!module.hasattr("image_size")) return 0;
  const c10::IValue value = module.attr("image_size");
  if (value.isInt()) return value.toInt();
  if (value.isIntList() && !value.toIntVector().empty()) return value.toIntVector().back();
  return 0;
}

/// Returns the preprocessing stated by the file; size 0 if it states none.
Preprocessing statement(const torch::jit::Module& module, const std::string& text, const std::string& where) {
  Preprocessing stated;
  stated.image_size = size_attribute(module);
  if (text.empty()) return stated;
  const std::string what = where + ", " + kStatement;
  return stated_preprocessing(parse_json(text, what), what);
}

constexpr float kSameOutput = 1e-4F;     // relative to the largest
constexpr float kOtherFeatures = 1e-2F;  // more than rounding, whatever the precision inside

/// Returns the methods that freezing leaves callable besides `forward`.
std::vector<std::string> other_methods(const torch::jit::Module& module) {
  return module.find_method(kMaps) ? std::vector<std::string>{kMaps} : std::vector<std::string>{};
}

/// Folds batch norm into convolutions, with weights in the layout of images: channels last.
torch::jit::Module folded(const torch::jit::Module& module) {
  for (auto parameter : module.parameters()) {
    if (parameter.dim() == 4) parameter.set_data(parameter.data().contiguous(at::MemoryFormat::ChannelsLast));
  }
  return torch::jit::freeze(module, other_methods(module));
}

/// Folds, and uses convolutions in oneDNN's own layout: LibTorch 1.13 has slower ones for one thread and few images.
torch::jit::Module folded_for_one_thread(const torch::jit::Module& module) {
  const std::vector<std::string> others = other_methods(module);
  torch::jit::Module frozen = torch::jit::freeze(module, others);
  return torch::jit::optimize_for_inference(frozen, others);
}

torch::jit::Module prepared(const torch::jit::Module& module, bool alone) {
  const std::lock_guard lock(preparing());
  return alone ? folded_for_one_thread(module) : folded(module);
}

}  // namespace

TorchScriptBackbone::TorchScriptBackbone(const std::filesystem::path& path, const Preprocessing& asked,
                                         int64_t otherwise, const std::string& output)
    : FixedBackbone(path), name_(shown(path)) {
  torch::jit::ExtraFilesMap extra = {{kStatement, ""}, {kOutput, ""}};
  module_ = load(path, extra);
  output_ = output.empty() ? std::string(trimmed(extra.at(kOutput))) : output;
  set_preprocessing(choose_preprocessing(asked, statement(module_, extra.at(kStatement), name_), otherwise, name_));
  module_.eval();
  check_features_of_one();
}

/// Throws for a program traced in training mode, which stays in it even after eval(): with dropout an image's features
/// change from call to call, with batch norm they depend on the other images of the batch.
void TorchScriptBackbone::check_features_of_one() {
  const torch::NoGradGuard no_grad;
  at::Tensor images = trial_images(image_size());
  images[1].mul_(0.2);  // another brightness: statistics of both together differ from those of the first
  const at::Tensor among = TorchScriptBackbone::forward(images).slice(0, 0, 1);
  set_dim(among.size(1));
  const auto differs = [&](const at::Tensor& a, const at::Tensor& b) {
    return (a - b).abs().max().item<float>() > kOtherFeatures * a.abs().max().item<float>();
  };
  const at::Tensor alone = TorchScriptBackbone::forward(images.slice(0, 0, 1));
  if (!differs(alone, among)) return;
  if (differs(alone, TorchScriptBackbone::forward(images.slice(0, 0, 1))))
    fail("{} gives different features of the same image at each call (dropout): {}", name_, kMadeForTraining);
  fail("{} gives different features of the same image beside other images (batch norm): {}", name_, kMadeForTraining);
}

void TorchScriptBackbone::freeze() {
  if (frozen_ || mode_ != BackboneMode::kUse) return;
  const torch::NoGradGuard no_grad;
  const at::Tensor images = trial_images(image_size());
  const at::Tensor expected = TorchScriptBackbone::forward(images);
  const torch::jit::Module before = module_;
  try {
    const bool alone = at::get_num_threads() == 1;
    module_ = prepared(module_, alone);
    const at::Tensor found = TorchScriptBackbone::forward(images);
    frozen_ = (found - expected).abs().max().item<float>() <= kSameOutput * expected.abs().max().item<float>();
    images_a_pass_ = alone ? images_of_one_thread(image_size(), 4) : images_a_pass_;
    if (!frozen_) logger().debug("{}: its optimised form gives different features and is not used", name_);
  } catch (const std::exception& error) {
    logger().debug("{} cannot be optimised: {}", name_, reason_of(error));
  }
  if (!frozen_) module_ = before;
}

int64_t TorchScriptBackbone::most_images_a_pass() const {
  return frozen_ ? images_a_pass_ : Backbone::most_images_a_pass();
}

void TorchScriptBackbone::to(c10::Device device) {
  if (frozen_ && device.is_cpu()) return;
  if (frozen_) fail("{} was optimised for the CPU and cannot be moved to '{}'", name_, device.str());
  module_.to(device);
  FixedBackbone::to(device);
}

c10::IValue TorchScriptBackbone::run(const std::string& method, const at::Tensor& images) {
  torch::AutoGradMode grad(mode_ != BackboneMode::kUse && at::GradMode::is_enabled());
  const at::Tensor input = normalised(images);
  try {
    const RunningProgram running(name_);
    return module_.get_method(method)({input});
  } catch (const std::exception& error) {
    fail("{} does not run on images of shape [{}]: {}{}", name_, fmt::join(images.sizes(), ", "),
         reason_in_script(error), remedy_for(error.what()));
  }
}

at::Tensor TorchScriptBackbone::feature_of(const c10::IValue& given, int64_t images) const {
  const std::vector<ScriptOutput> outputs = outputs_of(given);
  if (outputs.empty()) fail("{} gives a {}, expected a tensor", name_, given.tagKind());
  try {
    return choose_output(outputs, output_, images).value;
  } catch (const Error& error) {
    fail("{} cannot be used as an encoder: {}", name_, error.what());
  }
}

at::Tensor TorchScriptBackbone::forward(const at::Tensor& images) {
  const at::Tensor features = feature_of(run("forward", images), images.size(0));
  if (features.dim() != 2 || features.size(0) != images.size(0) || !features.is_floating_point()) {
    fail("{} gives {} [{}] for {} images, expected float features [n, d]", name_, toString(features.scalar_type()),
         fmt::join(features.sizes(), ", "), images.size(0));
  }
  return features.to(at::kFloat);
}

at::Tensor TorchScriptBackbone::forward_maps(const at::Tensor& images) {
  if (!module_.find_method(kMaps)) {
    fail("{} has no feature maps: script it with a method `forward_maps` that gives [n, c, h, w]", name_);
  }
  const c10::IValue given = run(kMaps, images);
  if (!given.isTensor()) fail("{} gives a {} as maps, expected one tensor", name_, given.tagKind());
  const at::Tensor& maps = given.toTensor();
  if (maps.dim() != 4 || maps.size(0) != images.size(0) || !maps.is_floating_point()) {
    fail("{} gives {} [{}] as the maps of {} images, expected float [n, c, h, w]", name_, toString(maps.scalar_type()),
         fmt::join(maps.sizes(), ", "), images.size(0));
  }
  return maps.to(at::kFloat).contiguous();
}

void TorchScriptBackbone::set_mode(BackboneMode mode) {
  if (frozen_ && mode == BackboneMode::kUse) return;
  if (frozen_) fail("{} was optimised for use and cannot be trained", name_);
  mode_ = mode;
  module_.train(mode == BackboneMode::kTrain);
}

std::vector<std::pair<std::string, at::Tensor>> TorchScriptBackbone::state_dict() const {
  std::vector<std::pair<std::string, at::Tensor>> entries;
  for (const auto& item : module_.named_parameters()) entries.emplace_back(item.name, item.value);
  for (const auto& item : module_.named_buffers()) entries.emplace_back(item.name, item.value);
  return entries;
}

std::vector<at::Tensor> TorchScriptBackbone::parameters() const {
  std::vector<at::Tensor> tensors;
  for (const auto& parameter : module_.parameters()) {
    if (parameter.requires_grad()) tensors.push_back(parameter);
  }
  return tensors;
}

void write_torchscript(const std::filesystem::path& from, const std::string& output, const std::filesystem::path& to) {
  torch::jit::ExtraFilesMap extra = {{kStatement, ""}, {kOutput, ""}};
  const torch::jit::Module module = load(from, extra);
  if (extra.at(kStatement).empty()) extra.erase(kStatement);
  extra[kOutput] = output;
  module.save(to.string(), extra);
}

}  // namespace protocom
