#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fewshot/method.h"

namespace protocom {

/// Returns all methods: the paper's rows first, then by name. Their files are src/fewshot/methods/*.cc, and
/// src/fewshot/trained/*.cc for those trained by gradients.
const std::vector<const MethodSpec*>& method_specs();

/// Throws UsageError for an unknown name, with similar names.
const MethodSpec& method_spec(const std::string& name);

/// Returns the values that `protocom tune` tries for a method, declared with its parameters in the method's own file.
/// Throws UsageError for an unknown name.
const ParameterTries& parameter_tries(const std::string& method);

/// Returns "mean", "completed", "mean-fusion", "gauss-fusion": rows (i) to (iv) of the paper's ablation.
std::vector<std::string> paper_rows();

/// Makes a method from text, its name and then parameters: "gauss-fusion", "gauss-fusion:scale=20:epsilon=1e-5". Throws
/// UsageError for an unknown name, an unknown parameter, a value out of range or given twice. Methods trained by
/// gradients are made by the plug-in with LibTorch: Error if that cannot be loaded.
std::unique_ptr<Method> make_method(const std::string& text);

/// Returns the label of a method, without making it, so that no plug-in is loaded; throws the same UsageErrors.
std::string checked_label(const std::string& text);

/// Methods that run together.
using Methods = std::vector<std::shared_ptr<const Method>>;

/// Makes a list of methods. Throws UsageError for an empty list and for a label that occurs twice.
Methods make_methods(const std::vector<std::string>& texts);

/// Returns their labels, in order.
std::vector<std::string> labels_of(const Methods& methods);

/// Returns the label among `labels` that a user means by `text`: the label that make_method() gives the text, else, if
/// no parameter is typed, the only label of that name ("plda" means "plda:prior=none" if there is no other plda). Empty
/// if there is none. Throws UsageError for a text that is not a method, and for a name that several labels have.
std::string label_meant(const std::vector<std::string>& labels, const std::string& text);

/// Two labels: a method, and the same method without knowledge of the classes.
using KnowledgePair = std::pair<std::string, std::string>;

/// Returns the pairs among `labels`: "plda", or the only other plda there is, with "plda:prior=none".
std::vector<KnowledgePair> knowledge_pairs(const std::vector<std::string>& labels);

/// Appended to a method's name to leave out the knowledge of the classes that it was fitted with.
inline constexpr const char* kWithoutKnowledge = ":prior=none";

/// Returns whether a method named without parameters also works without what `need`, one of its needs, stands for.
bool is_optional(const MethodSpec& spec, Need need);

/// Throws Error if the context lacks what the method needs, in words for users.
void check_needs(const Method& method, const MethodContext& context);

}  // namespace protocom
