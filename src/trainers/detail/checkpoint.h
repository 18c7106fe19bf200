#pragma once
#include <torch/torch.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "io/artefact.h"

namespace protocom {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// The whole state of a training between two steps, enough to continue as if nothing had happened. On disk it is an
/// npz;
/// with a header it is also the artefact itself, so that the latest backbone can be used before the training ends.
///
///     Checkpoint state;
///     state.header = make_header("backbone", 1, provenance);       // optional
///     state.artefact = backbone.state_dict();
///     state.training = {{"scale", scale}, ...};                    // what is not part of the artefact
///     state.add_optimizer("optimizer", *optimizer);
///     state.add_generator("noise", generator);
///     state.position = {{"epoch", 3}, {"step", 17}, {"loss", sum}};  // doubles come back to the last bit
struct Checkpoint {
  std::optional<ArtefactHeader> header;
  NamedTensors artefact;                     ///< members under their own names
  NamedTensors training;                     ///< members "training.<name>": heads, momentum, snapshots
  std::map<std::string, std::string> bytes;  ///< members "training.<name>" that are not arrays
  nlohmann::json made_by;                    ///< what determines the training: options, seed, hashes of inputs
  nlohmann::json position;                   ///< epoch, step in the epoch, running sums, best so far

  /// Adds the optimizer's state (momentum); its parameters must come in the same order when it is loaded.
  void add_optimizer(const std::string& name, const torch::optim::Optimizer& optimizer);
  void load_optimizer(const std::string& name, torch::optim::Optimizer& optimizer) const;

  /// Adds a LibTorch generator's state; `at::detail::getDefaultCPUGenerator()` is the one that at::randn and dropout
  /// use.
  void add_generator(const std::string& name, at::Generator generator);
  void load_generator(const std::string& name, at::Generator generator) const;

  /// Adds the state of our own generator, within `position`.
  void add_rng(const std::string& name, const Rng& rng);
  [[nodiscard]] Rng rng(const std::string& name) const;

  /// Returns a tensor by name; throws Error if it is missing or has another shape.
  [[nodiscard]] const at::Tensor& training_tensor(const std::string& name) const;
  /// Copies the artefact into the tensors (parameters, buffers; any device). Throws Error when names or shapes differ.
  void load_artefact(const NamedTensors& targets) const;
  void load_training(const NamedTensors& targets) const;

  std::filesystem::path path;  ///< file it was read from, for messages
};

/// Writes a checkpoint atomically, with a hash of everything in it. Throws Error for a non-finite value (by name: the
/// existing file stays, as the last good state) and for a full disk.
void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Reads a checkpoint. Throws Error if it is truncated or corrupt, or is not a checkpoint.
Checkpoint read_checkpoint(const std::filesystem::path& path);

/// Throws Error that names the first difference unless the checkpoint's `made_by` equals `now`.
void check_made_by(const Checkpoint& checkpoint, const nlohmann::json& now);

}  // namespace protocom
