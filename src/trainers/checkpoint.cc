#include "trainers/detail/checkpoint.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/json_text.h"
#include "io/files.h"
#include "io/json.h"
#include "networks/backbone.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using nlohmann::json;

constexpr const char* kHeaderMember = "header.json";
constexpr const char* kStateMember = "state.json";
constexpr int kFormat = 1;

std::string member(const std::string& name) { return kTrainingPrefix + name; }

/// Returns a line that changes whenever the tensor does.
std::string digest(const std::string& name, const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().cpu().contiguous();
  const std::string_view values(static_cast<const char*>(plain.data_ptr()), static_cast<size_t>(plain.nbytes()));
  return fmt::format("{} {} [{}] {}\n", name, c10::toString(plain.scalar_type()), fmt::join(plain.sizes(), ","),
                     hash_bytes(values));
}

/// Returns a hash of everything in a checkpoint, independent of the order of its members.
std::string content_hash(const Checkpoint& checkpoint) {
  std::vector<std::string> lines;
  for (const auto& [name, tensor] : checkpoint.artefact) lines.push_back(digest(name, tensor));
  for (const auto& [name, tensor] : checkpoint.training) lines.push_back(digest(member(name), tensor));
  for (const auto& [name, content] : checkpoint.bytes)
    lines.push_back(fmt::format("{} {}\n", member(name), hash_bytes(content)));
  if (checkpoint.header) lines.push_back("header " + json_text(checkpoint.header->to_json()) + "\n");
  lines.push_back("made_by " + json_text(checkpoint.made_by) + "\n");
  lines.push_back("position " + json_text(checkpoint.position) + "\n");
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line;
  return hash_bytes(all);
}

void check_finite(const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (tensor.is_floating_point() && !at::isfinite(tensor).all().item<bool>()) fail("'{}' is not finite", name);
  }
}

/// Returns the header that `protocom show` prints, with the position; also for a state that is not an artefact.
ArtefactHeader header_of(const Checkpoint& checkpoint) {
  Provenance provenance;
  provenance.command = "training";
  provenance.options = checkpoint.made_by;
  ArtefactHeader header =
      checkpoint.header ? *checkpoint.header : make_header("checkpoint", kFormat, std::move(provenance));
  for (const char* name : {"epoch", "step"}) {
    if (checkpoint.position.contains(name)) header.details["training"][name] = checkpoint.position[name];
  }
  return header;
}

bool is_array(std::string_view content) { return content.substr(0, 6) == "\x93NUMPY"; }

void read_members(const NpzReader& reader, Checkpoint& checkpoint) {
  const std::string prefix = kTrainingPrefix;
  for (const std::string& name : reader.names()) {
    if (name == kHeaderMember || name == member(kStateMember)) continue;
    if (name.rfind(prefix, 0) != 0) {
      checkpoint.artefact.emplace_back(name, tensor_of(reader.array(name)));
      continue;
    }
    std::string content = reader.bytes(name);
    const std::string own = name.substr(prefix.size());
    if (is_array(content)) {
      checkpoint.training.emplace_back(own, tensor_of(reader.array(name)));
    } else {
      checkpoint.bytes[own] = std::move(content);
    }
  }
}

Checkpoint read(const std::filesystem::path& path) {
  const NpzReader reader(path);
  if (!reader.has(member(kStateMember)))
    fail("{} is not a state of a training (missing member '{}')", path.string(), member(kStateMember));
  Checkpoint checkpoint;
  checkpoint.path = path;
  const json state = parse_json(reader.bytes(member(kStateMember)), path.string() + ": the state");
  if (state.at("format") != kFormat)
    fail("{} is of format {}, this version reads {}", path.string(), excerpt(json_text(state.at("format"))), kFormat);
  checkpoint.made_by = state.at("made_by");
  checkpoint.position = state.at("position");
  if (reader.has(kHeaderMember))
    checkpoint.header = ArtefactHeader::from_json(
        parse_json(reader.bytes(kHeaderMember), path.string() + ": the header"), path.string());
  read_members(reader, checkpoint);
  if (!checkpoint.position.is_object()) fail("{}: the state is damaged: 'position' is not an object", path.string());
  if (state.at("hash") != content_hash(checkpoint))
    fail("{} is damaged: its content does not match its hash", path.string());
  return checkpoint;
}

const at::Tensor* find(const NamedTensors& tensors, const std::string& name) {
  for (const auto& [own, tensor] : tensors) {
    if (own == name) return &tensor;
  }
  return nullptr;
}

void load(const std::filesystem::path& path, const NamedTensors& from, const NamedTensors& targets) {
  const torch::NoGradGuard no_grad;
  for (auto [name, target] : targets) {
    const at::Tensor* saved = find(from, name);
    if (saved == nullptr) fail("{} has no entry '{}'", path.string(), name);
    if (saved->sizes() != target.sizes())
      fail("{}: entry '{}' has shape [{}], this training's has [{}]", path.string(), name,
           fmt::join(saved->sizes(), ", "), fmt::join(target.sizes(), ", "));
    target.copy_(*saved);
  }
}

/// Returns the first option in which two trainings differ.
std::string first_difference(const json& before, const json& now) {
  json names = before;
  names.update(now);
  const auto text = [](const json& from, const std::string& name) {
    return from.contains(name) ? json_text(from[name]) : std::string("missing");
  };
  for (const auto& [name, unused] : names.items()) {
    const std::string was = text(before, name), is = text(now, name);
    if (was != is) return fmt::format("{} was {}, is {}", name, excerpt(was), excerpt(is));
  }
  return "it is of another kind";
}

}  // namespace

void Checkpoint::add_optimizer(const std::string& name, const torch::optim::Optimizer& optimizer) {
  std::ostringstream stream;
  torch::save(optimizer, stream);
  bytes[name] = stream.str();
}

void Checkpoint::load_optimizer(const std::string& name, torch::optim::Optimizer& optimizer) const {
  const auto found = bytes.find(name);
  if (found == bytes.end()) fail("{} has no entry '{}'", path.string(), name);
  std::istringstream stream(found->second);
  reading(path, [&] { torch::load(optimizer, stream); });
}

void Checkpoint::add_generator(const std::string& name, at::Generator generator) {
  const std::lock_guard lock(generator.mutex());
  training.emplace_back(name, generator.get_state());
}

void Checkpoint::load_generator(const std::string& name, at::Generator generator) const {
  const at::Tensor& state = training_tensor(name);
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

void Checkpoint::add_rng(const std::string& name, const Rng& rng) { position[name] = rng.state(); }

Rng Checkpoint::rng(const std::string& name) const {
  if (!position.contains(name)) fail("{} has no generator '{}'", path.string(), name);
  return Rng::from_state(position.at(name).get<Rng::State>());
}

const at::Tensor& Checkpoint::training_tensor(const std::string& name) const {
  const at::Tensor* found = find(training, name);
  if (found == nullptr) fail("{} has no entry '{}'", path.string(), name);
  return *found;
}

void Checkpoint::load_artefact(const NamedTensors& targets) const { load(path, artefact, targets); }
void Checkpoint::load_training(const NamedTensors& targets) const { load(path, training, targets); }

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& given) {
  check_finite(given.artefact);
  check_finite(given.training);
  Checkpoint checkpoint = given;  // shares the tensors
  checkpoint.header = header_of(given);
  NpzWriter writer(path);
  add_header(writer, *checkpoint.header);
  for (const auto& [name, tensor] : checkpoint.artefact) writer.add(name, array_of(tensor));
  for (const auto& [name, tensor] : checkpoint.training) writer.add(member(name), array_of(tensor));
  for (const auto& [name, content] : checkpoint.bytes) writer.add_bytes(member(name), content);
  const json state = {{"format", kFormat},
                      {"made_by", checkpoint.made_by},
                      {"position", checkpoint.position},
                      {"hash", content_hash(checkpoint)}};
  writer.add_bytes(member(kStateMember), json_text(state, 2));
  writer.close();
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  try {
    return read(path);
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.find(one_line(path.string())) != std::string::npos) throw;
    fail("{} is damaged: {}", path.string(), message);
  } catch (const std::exception& error) {
    fail("{} is damaged: {}", path.string(), reason_of(error));
  }
}

void check_made_by(const Checkpoint& checkpoint, const json& now) {
  if (checkpoint.made_by == now) return;
  fail("{} comes from another training ({}): start without --resume, or write elsewhere", checkpoint.path.string(),
       first_difference(checkpoint.made_by, now));
}

}  // namespace protocom
