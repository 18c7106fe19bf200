#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fewshot/method.h"

namespace protocom {

/// Every method there is: the paper's rows first, then by name. Their files are src/fewshot/methods/*.cc, and
/// src/fewshot/trained/*.cc of those that are trained by gradients.
const std::vector<const MethodSpec*>& method_specs();

/// Throws UsageError for a name that no method has, with those that are near.
const MethodSpec& method_spec(const std::string& name);

/// What `protocom tune` tries of a method, each beside its parameter in the method's own file. Throws UsageError for a
/// name that no method has.
const ParameterTries& parameter_tries(const std::string& method);

/// "mean", "completed", "mean-fusion", "gauss-fusion": rows (i) to (iv) of the paper's ablation.
std::vector<std::string> paper_rows();

/// A method from text: its name, then parameters. "gauss-fusion", "gauss-fusion:scale=20:epsilon=1e-5". Throws
/// UsageError for an unknown name, an unknown parameter, a value out of range or given twice. One that is trained by
/// gradients is made by the plug-in with LibTorch: Error where that cannot be loaded.
std::unique_ptr<Method> make_method(const std::string& text);

/// Its label. Makes no method, so that no plug-in is loaded for it; throws the same UsageErrors.
std::string checked_label(const std::string& text);

/// Methods that run together.
using Methods = std::vector<std::shared_ptr<const Method>>;

/// The same for a list. Throws UsageError for an empty list and for one label twice.
Methods make_methods(const std::vector<std::string>& texts);

/// Their labels, in order.
std::vector<std::string> labels_of(const Methods& methods);

/// Which of `labels` a user means by `text`: the label that make_method() gives the text, else, if no parameter is
/// typed, the only label of that name ("plda" is "plda:prior=none" if no other plda is there). Empty if none is
/// meant. Throws UsageError for a text that is not a method, and for a name that several labels have.
std::string label_meant(const std::vector<std::string>& labels, const std::string& text);

/// Two labels: a method, and the same without what is known of the classes.
using KnowledgePair = std::pair<std::string, std::string>;

/// Those among `labels`: "plda", or the only other plda there is, with "plda:prior=none".
std::vector<KnowledgePair> knowledge_pairs(const std::vector<std::string>& labels);

/// How a method is asked to leave out what it was fitted to know of the classes: ":prior=none" behind its name.
inline constexpr const char* kWithoutKnowledge = ":prior=none";

/// Throws Error when the context lacks what the method needs, in words that a user understands.
void check_needs(const Method& method, const MethodContext& context);

}  // namespace protocom
