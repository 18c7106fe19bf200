#include "networks/onnx/detail/fuse.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "networks/onnx/detail/operators.h"

namespace protocom::onnx {
namespace {

/// A model's values with their origin and their users.
class Graph {
 public:
  explicit Graph(Model& model) : model_(model) {
    for (Node& node : model.nodes) {
      for (const std::string& output : node.outputs) origin_[output] = &node;
      for (const std::string& input : node.inputs) ++users_[input];
    }
  }

  /// Returns the node that makes a value, if it is of that kind.
  [[nodiscard]] Node* from(const std::string& value, const char* op) const {
    const auto found = origin_.find(value);
    return found != origin_.end() && found->second->op == op && found->second->domain.empty() ? found->second : nullptr;
  }
  [[nodiscard]] at::Tensor constant(const std::string& value) const {
    const auto found = model_.constants.find(value);
    return found == model_.constants.end() ? at::Tensor() : found->second;
  }
  /// Whether a value is a constant of one number that nearly equals this.
  [[nodiscard]] bool is(const std::string& value, double number) const {
    const auto found = scalar(value);
    return found && std::abs(*found - number) <= 1e-3 * std::abs(number);
  }
  [[nodiscard]] std::optional<double> scalar(const std::string& value) const {
    const at::Tensor found = constant(value);
    if (!found.defined() || found.numel() != 1) return std::nullopt;
    return found.to(at::kDouble).item<double>();
  }
  /// False for nodes added after this graph.
  [[nodiscard]] bool has_one_user(const std::string& value) const {
    const auto found = users_.find(value);
    return found != users_.end() && found->second == 1;
  }

 private:
  Model& model_;
  std::map<std::string, Node*> origin_;
  std::map<std::string, int> users_;
};

/// Inserts a node of ours in place of `last`, with its output.
void replace(Node& last, const std::string& op, std::vector<std::string> inputs,
             std::map<std::string, Attribute> attributes = {}) {
  last.op = op;
  last.inputs = std::move(inputs);
  last.attributes = std::move(attributes);
}

Attribute number(double value) {
  Attribute attribute;
  attribute.number = value;
  return attribute;
}

bool is_operator(const Node& node, const char* op, size_t inputs) {
  return node.op == op && node.domain.empty() && node.inputs.size() >= inputs;
}

// Convolution and batch norm ------------------------------------------------------------------------------------------

void fold_batch_norm(Model& model, const Graph& graph, Node& norm) {
  if (!is_operator(norm, "BatchNormalization", 5) || norm.outputs.size() != 1) return;
  Node* conv = graph.from(norm.inputs[0], "Conv");
  if (conv == nullptr || conv->inputs.size() < 2 || !graph.has_one_user(norm.inputs[0])) return;
  const auto training = norm.attributes.find("training_mode");
  if (training != norm.attributes.end() && training->second.whole.value_or(0) != 0) return;
  std::vector<at::Tensor> values;  // scale, shift, mean, variance
  for (size_t i = 1; i < 5; ++i) values.push_back(graph.constant(norm.inputs[i]));
  const at::Tensor weight = graph.constant(conv->inputs[1]);
  const at::Tensor bias = conv->inputs.size() > 2 ? graph.constant(conv->inputs[2]) : at::zeros({1});
  // Each norm would get its own copy of weights that several convolutions share.
  if (!graph.has_one_user(conv->inputs[1])) return;
  const bool known = std::all_of(values.begin(), values.end(), [&](const at::Tensor& value) {
    return value.defined() && weight.defined() && weight.dim() == 4 &&
           value.sizes() == at::IntArrayRef({weight.size(0)});
  });
  if (!known || !bias.defined() || bias.dim() != 1 || (bias.numel() != 1 && bias.numel() != weight.size(0))) return;
  const auto given = norm.attributes.find("epsilon");
  const double epsilon = given != norm.attributes.end() ? given->second.number.value_or(1e-5) : 1e-5;
  const at::Tensor scale = values[0] * (values[3] + epsilon).rsqrt();  // [out]
  const std::string name = kOwn + norm.outputs[0];
  model.constants[name + ".weight"] = weight * scale.reshape({-1, 1, 1, 1});
  model.constants[name + ".bias"] = (bias - values[2]) * scale + values[1];
  std::map<std::string, Attribute> attributes = conv->attributes;
  replace(norm, "Conv", {conv->inputs[0], name + ".weight", name + ".bias"}, std::move(attributes));
}

/// Fuses a sum into one of the convolutions before it, whose result no other operator uses.
void fuse_sum(const Graph& graph, Node& node) {
  if (!is_operator(node, "Add", 2)) return;
  for (const size_t i : {0U, 1U}) {
    const Node* conv = graph.from(node.inputs[i], "Conv");
    const std::string& other = node.inputs[1 - i];
    if (conv == nullptr || conv->inputs.size() < 2 || !graph.has_one_user(node.inputs[i]) ||
        graph.constant(other).defined())
      continue;
    std::vector<std::string> inputs = conv->inputs;
    inputs.resize(3);
    inputs.push_back(other);
    return replace(node, kConv, std::move(inputs), conv->attributes);
  }
}

/// Returns the bounds of a Clip; nothing if they are not constant numbers.
std::optional<std::pair<double, double>> bounds(const Graph& graph, const Node& clip) {
  const auto bound = [&](const char* name, size_t input, double otherwise) -> std::optional<double> {
    const auto found = clip.attributes.find(name);
    if (found != clip.attributes.end()) return found->second.number;
    if (clip.inputs.size() <= input || clip.inputs[input].empty()) return otherwise;
    return graph.scalar(clip.inputs[input]);
  };
  constexpr double kMost = std::numeric_limits<float>::max();
  const auto least = bound("min", 1, -kMost);
  const auto most = bound("max", 2, kMost);
  if (!least || !most) return std::nullopt;
  return std::pair{*least, *most};
}

/// Fuses an activation into the convolution before it.
void fuse_activation(const Graph& graph, Node& node) {
  const std::set<std::string> taken = {"Relu", "Clip", "HardSwish", kSilu};
  if (taken.count(node.op) == 0 || !is_operator(node, node.op.c_str(), 1) || node.outputs.size() != 1) return;
  const Node* conv = graph.from(node.inputs[0], "Conv");
  if (conv == nullptr) conv = graph.from(node.inputs[0], kConv);
  if (conv == nullptr || conv->attributes.count("activation") > 0 || !graph.has_one_user(node.inputs[0])) return;
  std::map<std::string, Attribute> attributes = conv->attributes;
  if (node.op == "Clip") {
    const auto found = bounds(graph, node);
    if (!found) return;
    attributes["least"] = number(found->first);
    attributes["most"] = number(found->second);
  }
  attributes["activation"].text = node.op;
  replace(node, kConv, conv->inputs, std::move(attributes));
}

// Layer norm ----------------------------------------------------------------------------------------------------------

/// Whether a node is the mean over the last axis, with that kept.
bool is_mean(const Graph& graph, const Node& node) {
  const auto keep = node.attributes.find("keepdims");
  if (keep != node.attributes.end() && keep->second.whole.value_or(1) == 0) return false;
  const auto axes = node.attributes.find("axes");
  if (axes != node.attributes.end()) return axes->second.integers == std::vector<int64_t>{-1};
  return node.inputs.size() > 1 && graph.scalar(node.inputs[1]) == -1.0;
}

/// Returns x of x - mean(x); empty for anything else.
std::string centred(const Graph& graph, const std::string& value) {
  const Node* difference = graph.from(value, "Sub");
  if (difference == nullptr || difference->inputs.size() != 2) return "";
  const Node* mean = graph.from(difference->inputs[1], "ReduceMean");
  if (mean == nullptr || !is_mean(graph, *mean) || mean->inputs[0] != difference->inputs[0]) return "";
  return difference->inputs[0];
}

/// Returns the value whose square this is.
std::string squared(const Graph& graph, const std::string& value) {
  if (const Node* power = graph.from(value, "Pow"); power != nullptr && power->inputs.size() == 2)
    return graph.is(power->inputs[1], 2) ? power->inputs[0] : "";
  const Node* product = graph.from(value, "Mul");
  return product != nullptr && product->inputs.size() == 2 && product->inputs[0] == product->inputs[1]
             ? product->inputs[0]
             : "";
}

void restore_layer_norm(const Graph& graph, Node& node) {
  if (!is_operator(node, "Div", 2)) return;
  const std::string x = centred(graph, node.inputs[0]);
  const Node* root = graph.from(node.inputs[1], "Sqrt");
  const Node* sum = root == nullptr || x.empty() ? nullptr : graph.from(root->inputs.at(0), "Add");
  if (sum == nullptr || sum->inputs.size() != 2) return;
  const auto epsilon = graph.scalar(sum->inputs[1]);
  const Node* variance = graph.from(sum->inputs[0], "ReduceMean");
  if (!epsilon || variance == nullptr || !is_mean(graph, *variance)) return;
  const std::string deviation = squared(graph, variance->inputs.at(0));
  if (deviation.empty() || centred(graph, deviation) != x) return;
  replace(node, "LayerNormalization", {x}, {{"epsilon", number(*epsilon)}});
}

/// Returns the other input of a node of two, if one is a constant vector; both empty otherwise.
std::pair<std::string, std::string> with_vector(const Graph& graph, const Node& node) {
  for (const size_t i : {0U, 1U}) {
    const at::Tensor vector = graph.constant(node.inputs[i]);
    if (vector.defined() && vector.dim() == 1 && vector.numel() > 1) return {node.inputs[1 - i], node.inputs[i]};
  }
  return {};
}

/// Fuses scale and shift into a layer norm that has none yet.
void take_scale(const Graph& graph, Node& node) {
  if (!is_operator(node, "Mul", 2)) return;
  const auto [value, scale] = with_vector(graph, node);
  const Node* norm = graph.from(value, "LayerNormalization");
  if (norm == nullptr || norm->inputs.size() != 1) return;
  replace(node, "LayerNormalization", {norm->inputs[0], scale}, norm->attributes);
}

void take_shift(const Graph& graph, Node& node) {
  if (!is_operator(node, "Add", 2)) return;
  const auto [value, shift] = with_vector(graph, node);
  const Node* norm = graph.from(value, "LayerNormalization");
  if (norm == nullptr || norm->inputs.size() != 2) return;
  const at::Tensor scale = graph.constant(norm->inputs[1]);
  if (!scale.defined() || scale.sizes() != graph.constant(shift).sizes()) return;
  replace(node, "LayerNormalization", {norm->inputs[0], norm->inputs[1], shift}, norm->attributes);
}

// Activations ---------------------------------------------------------------------------------------------------------

/// Returns x of 1 + erf(x / sqrt(2)).
std::string error_function(const Graph& graph, const std::string& value) {
  const Node* sum = graph.from(value, "Add");
  if (sum == nullptr || sum->inputs.size() != 2) return "";
  const size_t index = graph.is(sum->inputs[0], 1) ? 0 : 1;
  const Node* error = graph.from(sum->inputs[1 - index], "Erf");
  if (!graph.is(sum->inputs[index], 1) || error == nullptr) return "";
  const std::string& inside = error->inputs.at(0);
  const Node* over = graph.from(inside, "Div");
  if (over != nullptr && graph.is(over->inputs.at(1), std::sqrt(2.0))) return over->inputs[0];
  const Node* times = graph.from(inside, "Mul");
  if (times == nullptr || times->inputs.size() != 2) return "";
  for (const size_t i : {0U, 1U}) {
    if (graph.is(times->inputs[i], std::sqrt(0.5))) return times->inputs[1 - i];
  }
  return "";
}

/// Returns the three factors of a product of two products.
std::vector<std::vector<std::string>> factors(const Graph& graph, const Node& product) {
  std::vector<std::vector<std::string>> all;
  for (const size_t i : {0U, 1U}) {
    const Node* inner = graph.from(product.inputs[i], "Mul");
    if (inner != nullptr && inner->inputs.size() == 2)
      all.push_back({product.inputs[1 - i], inner->inputs[0], inner->inputs[1]});
  }
  return all;
}

/// Restores x / 2 * (1 + erf(x / sqrt(2))), in any order.
void restore_gelu(const Graph& graph, Node& node) {
  if (!is_operator(node, "Mul", 2)) return;
  for (const std::vector<std::string>& three : factors(graph, node)) {
    for (size_t i = 0; i < 3; ++i) {
      const std::string x = error_function(graph, three[i]);
      if (x.empty()) continue;
      const std::string& a = three[(i + 1) % 3];
      const std::string& b = three[(i + 2) % 3];
      if ((a == x && graph.is(b, 0.5)) || (b == x && graph.is(a, 0.5))) return replace(node, "Gelu", {x});
    }
  }
}

/// Restores x sigmoid(x), and x times its hard sigmoid.
void restore_gated(const Graph& graph, Node& node) {
  if (!is_operator(node, "Mul", 2)) return;
  for (const size_t i : {0U, 1U}) {
    const std::string& x = node.inputs[1 - i];
    const Node* gate = graph.from(node.inputs[i], "Sigmoid");
    if (gate != nullptr && gate->inputs.at(0) == x) return replace(node, kSilu, {x});
    gate = graph.from(node.inputs[i], "HardSigmoid");
    if (gate == nullptr || gate->inputs.at(0) != x) continue;
    const auto slope = gate->attributes.find("alpha");
    const auto middle = gate->attributes.find("beta");
    const bool usual = slope != gate->attributes.end() && std::abs(slope->second.number.value_or(0) - 1.0 / 6) < 1e-4 &&
                       (middle == gate->attributes.end() || middle->second.number.value_or(0) == 0.5);
    if (usual) return replace(node, "HardSwish", {x});
  }
}

/// Restores x W + b.
void restore_linear(const Graph& graph, Node& node) {
  if (!is_operator(node, "Add", 2)) return;
  const auto [value, bias] = with_vector(graph, node);
  const Node* product = graph.from(value, "MatMul");
  if (product == nullptr || product->inputs.size() != 2) return;
  const at::Tensor weight = graph.constant(product->inputs[1]);
  if (!weight.defined() || weight.dim() != 2 || weight.size(1) != graph.constant(bias).numel()) return;
  replace(node, kLinear, {product->inputs[0], product->inputs[1], bias});
}

// Cleaning up ---------------------------------------------------------------------------------------------------------

/// Turns nodes that are constants into constants, and replaces copies by their originals.
void resolve_constants(Model& model) {
  std::map<std::string, std::string> same;
  std::vector<Node> kept;
  for (Node& node : model.nodes) {
    for (std::string& input : node.inputs) {
      if (const auto found = same.find(input); found != same.end()) input = found->second;
    }
    const auto value = node.attributes.find("value");
    if (is_operator(node, "Constant", 0) && node.outputs.size() == 1 && value != node.attributes.end() &&
        value->second.tensor.defined()) {
      model.constants[node.outputs[0]] = value->second.tensor;
    } else if (is_operator(node, "Identity", 1) && node.outputs.size() == 1) {
      same[node.outputs[0]] = node.inputs[0];
      kept.push_back(std::move(node));  // it may be the requested output
    } else {
      kept.push_back(std::move(node));
    }
  }
  model.nodes = std::move(kept);
}

void keep_needed(Model& model, const std::string& output) {
  std::set<std::string> needed = {output};
  std::vector<Node> kept;
  for (auto node = model.nodes.rbegin(); node != model.nodes.rend(); ++node) {
    const bool used = std::any_of(node->outputs.begin(), node->outputs.end(),
                                  [&](const std::string& text) { return needed.count(text) > 0; });
    if (!used) continue;
    needed.insert(node->inputs.begin(), node->inputs.end());
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  model.nodes = std::move(kept);
  for (auto entry = model.constants.begin(); entry != model.constants.end();)
    entry = needed.count(entry->first) > 0 ? std::next(entry) : model.constants.erase(entry);
  model.inputs.erase(std::remove_if(model.inputs.begin(), model.inputs.end(),
                                    [&](const GraphValue& input) { return needed.count(input.name) == 0; }),
                     model.inputs.end());
}

/// Applies one kind of pattern to all nodes, which stay in place.
template <typename Rewrite>
void everywhere(Model& model, const std::string& output, const Rewrite& rewrite) {
  const Graph graph(model);
  for (Node& node : model.nodes) rewrite(graph, node);
  keep_needed(model, output);
}

}  // namespace

void simplify(Model& model, const std::string& output) {
  resolve_constants(model);
  keep_needed(model, output);
  everywhere(model, output, [&](const Graph& graph, Node& node) { fold_batch_norm(model, graph, node); });
  for (const auto rewrite : {&restore_layer_norm, &take_scale, &take_shift, &restore_gelu, &restore_gated,
                             &restore_linear, &fuse_sum, &fuse_activation})
    everywhere(model, output, rewrite);
}

}  // namespace protocom::onnx
