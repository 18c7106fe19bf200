#include "networks/onnx/detail/plan.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "networks/onnx/detail/costs.h"
#include "networks/onnx/detail/layout.h"

namespace protocom::onnx {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();
constexpr int64_t kMostAtOnce = int64_t{1} << 28;  // values that are alive at the same time, for one image
constexpr double kMostWork = 1e13;  // for one image; ViT-L of 336 pixels needs 1.9e11, ViT-g of 518 pixels 1.8e12

/// Runs `work` for a node, whose name is put before any error.
template <typename Work>
auto for_node(const std::string& what, const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    fail("{}: {}", what, reason_of(error));
  }
}

/// Returns inputs of a step; those that no later step uses are moved.
Tensors take(const std::vector<size_t>& inputs, const std::vector<bool>& last, std::vector<at::Tensor>& values) {
  Tensors taken;
  taken.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == kNone)
      taken.emplace_back();
    else if (last[i])
      taken.push_back(std::move(values[inputs[i]]));
    else
      taken.push_back(values[inputs[i]]);
  }
  return taken;
}

}  // namespace

/// Walks the model once: computes what is constant, and keeps the rest as steps.
class Plan::Maker {
 public:
  Maker(Plan& plan, const Model& model, Use use) : plan_(plan), model_(model), use_(use) {
    for (const auto& [name, tensor] : model.constants) constants_[name] = tensor;
    for (size_t i = 0; i < model.nodes.size(); ++i) {
      if (takes_sizes_only(model.nodes[i])) continue;
      for (const std::string& input : model.nodes[i].inputs) last_use_[input] = i;
    }
  }

  void make(const std::string& output, const at::Tensor& input) {
    device_ = input.device();
    plan_.input_ = number(model_.inputs.front().name);
    sizes_[model_.inputs.front().name] = input.sizes().vec();
    types_[model_.inputs.front().name] = input.scalar_type();
    keep(plan_.input_, input);
    last_use_[output] = model_.nodes.size();
    if (use_ == Use::kFrozen && device_.is_cpu()) layout_.emplace(model_, output);
    for (size_t i = 0; i < model_.nodes.size(); ++i) add(model_.nodes[i], i);
    const auto found = numbers_.find(output);
    if (found == numbers_.end()) fail("'{}' does not depend on the image", excerpt(output));
    plan_.output_ = found->second;
    plan_.first_ = values_.at(plan_.output_);
  }

 private:
  /// Returns the number of a value that depends on the image.
  size_t number(const std::string& name) {
    const auto [found, is_new] = numbers_.emplace(name, values_.size());
    if (is_new) {
      values_.emplace_back();
      plan_.constants_.emplace_back();
    }
    return found->second;
  }

  void keep(size_t place, const at::Tensor& value) {
    check_elements(value.sizes());
    alive_ += value.numel();
    if (alive_ > kMostAtOnce) fail("more than {} values in memory at once", kMostAtOnce);
    values_[place] = value;
  }

  static bool takes_sizes_only(const Node& node) { return node.op == "Shape" || node.op == "Size"; }
  /// Whether only the type of an input matters: the second input of CastLike.
  [[nodiscard]] bool takes_type_only(const Node& node) const {
    return node.op == "CastLike" && is_constant(node.inputs[0]);
  }

  [[nodiscard]] bool is_constant(const std::string& name) const { return name.empty() || constants_.count(name) > 0; }

  [[nodiscard]] Binding bind(const Node& node) const {
    Tensors constants;
    std::vector<Sizes> sizes;
    for (const std::string& input : node.inputs) {
      const auto constant = constants_.find(input);
      const bool known = constant != constants_.end();
      constants.push_back(known ? constant->second : at::Tensor());
      if (input.empty())
        sizes.emplace_back();
      else
        sizes.push_back(known ? constant->second.sizes().vec() : sizes_.at(input));
    }
    const c10::Device device = is_computed(node) ? c10::Device(c10::kCPU) : device_;
    Binding binding(node, model_.opset, device, std::move(constants), std::move(sizes));
    if (use_ == Use::kFrozen && device.is_cpu()) binding.freeze();
    return binding;
  }

  /// Whether it does not depend on the image.
  [[nodiscard]] bool is_computed(const Node& node) const {
    return takes_sizes_only(node) || takes_type_only(node) ||
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](const std::string& input) { return is_constant(input); });
  }

  void add(const Node& node, size_t index) {
    for_node(name_of(node), [&] {
      const auto maker = find_maker(node);
      const Binding binding = bind(node);
      count_work(work_of(binding));
      if (!is_computed(node)) count_kept(binding);
      const Operation operation = layout_ && !is_computed(node) ? layout_->operation(binding) : maker(binding);
      if (is_computed(node))
        compute(node, operation);
      else
        add_step(node, index, operation);
    });
  }

  /// Limits the work before the first run, since only running would measure the time.
  void count_work(double work) {
    work_ += work;
    if (work_ > kMostWork)
      fail("it takes {:.2g} multiply-adds, {:.2g} with all operators before it, expected at most {:.2g} for an image",
           work, work_, kMostWork);
  }

  /// Counts what an operator keeps of its weights like computed values, except for a first copy of each, which is as
  /// large as the constant itself.
  void count_kept(const Binding& binding) {
    int64_t kept = kept_by(binding);
    if (kept == 0 || !binding.has(1)) return;
    const at::Tensor weight = binding.constant(1);
    if (weight.defined() && kept_of_.insert(binding.node().inputs[1]).second) kept -= std::min(kept, weight.numel());
    count_computed(kept);
  }

  void count_computed(int64_t values) {
    computed_ += values;
    if (computed_ > kMostAtOnce) fail("computed constants and copied weights have more than {} values", kMostAtOnce);
  }

  /// Computes what does not depend on the image, once, on the processor.
  void compute(const Node& node, const Operation& operation) {
    Tensors inputs;
    for (const std::string& input : node.inputs) {
      const auto constant = constants_.find(input);
      const auto type = types_.find(input);
      if (constant != constants_.end())
        inputs.push_back(constant->second);
      else
        inputs.push_back(type == types_.end() ? at::Tensor() : at::empty({0}, type->second));
    }
    const Tensors outputs = operation(inputs);
    check_outputs(node, outputs);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      check_elements(outputs[i].sizes());
      count_computed(outputs[i].numel());
      count_work(work_of_values(outputs[i].numel()));
      constants_[node.outputs[i]] = outputs[i];
    }
  }

  static void check_outputs(const Node& node, const Tensors& outputs) {
    if (node.outputs.size() > outputs.size() || node.outputs.empty())
      fail("it has {} outputs, expected {}", node.outputs.size(), outputs.size());
  }

  /// Returns the number of a step's constant, on the step's device.
  size_t constant_number(const std::string& name) {
    const bool is_new = numbers_.count(name) == 0;
    const size_t place = number(name);
    if (is_new) plan_.constants_[place] = constants_.at(name).to(device_);
    values_[place] = plan_.constants_[place];
    return place;
  }

  void add_step(const Node& node, size_t index, const Operation& operation) {
    Step step;
    step.run = operation;
    step.what = name_of(node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const std::string& input = node.inputs[i];
      const bool known = constants_.count(input) > 0;
      step.inputs.push_back(input.empty() ? kNone : known ? constant_number(input) : numbers_.at(input));
      const bool again =
          std::find(node.inputs.begin() + static_cast<int64_t>(i) + 1, node.inputs.end(), input) != node.inputs.end();
      step.last.push_back(!input.empty() && !known && last_use_.at(input) == index && !again);
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (step.last[i]) alive_ -= values_[step.inputs[i]].numel();
    }
    Tensors inputs = take(step.inputs, step.last, values_);
    const Tensors outputs = operation(inputs);
    check_outputs(node, outputs);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      count_work(work_of_values(outputs[i].numel()));
      sizes_[node.outputs[i]] =
          layout_ ? layout_->sizes(node.outputs[i], outputs[i].sizes()) : outputs[i].sizes().vec();
      types_[node.outputs[i]] = outputs[i].scalar_type();
      const bool wanted = !node.outputs[i].empty() && last_use_.count(node.outputs[i]) > 0;
      step.outputs.push_back(wanted ? number(node.outputs[i]) : kNone);
      if (wanted) keep(step.outputs.back(), outputs[i]);
    }
    plan_.steps_.push_back(std::move(step));
  }

  Plan& plan_;
  const Model& model_;
  Use use_;
  std::optional<Layout> layout_;
  c10::Device device_ = c10::Device(c10::kCPU);
  std::map<std::string, at::Tensor> constants_;
  std::map<std::string, Sizes> sizes_;  // of values that depend on the image
  std::map<std::string, at::ScalarType> types_;
  std::map<std::string, size_t> numbers_;
  std::map<std::string, size_t> last_use_;
  std::vector<at::Tensor> values_;
  int64_t alive_ = 0;
  int64_t computed_ = 0;
  double work_ = 0;
  std::set<std::string> kept_of_;  // weights that an operator keeps in its own order
};

Plan::Plan(const Model& model, const std::string& output, const at::Tensor& input, Use use) {
  Maker(*this, model, use).make(output, input);
}

at::Tensor Plan::run(const at::Tensor& input) const {
  std::vector<at::Tensor> values = constants_;
  values[input_] = input;
  for (const Step& step : steps_) {
    for_node(step.what, [&] {
      Tensors inputs = take(step.inputs, step.last, values);
      Tensors outputs = step.run(inputs);
      for (size_t i = 0; i < step.outputs.size(); ++i) {
        if (step.outputs[i] != kNone) values[step.outputs[i]] = std::move(outputs[i]);
      }
    });
  }
  return values[output_];
}

}  // namespace protocom::onnx
