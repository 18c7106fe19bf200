#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fewshot/fitted_method.h"
#include "fewshot/paper/completion_model.h"
#include "images/preprocessing.h"
#include "store/recognizer_file.h"

namespace protocom {

/// The method of a recognizer: one of the two.
struct StoreModel {
  std::optional<CompletionModel> completion;
  std::optional<FittedMethod> fitted;
  std::optional<Preprocessing> preprocessing = {};  ///< of the images it was made from, where its file says so
  std::string knowledge_hash = {};  ///< hash_file of the knowledge it was made with; empty if its file states none

  /// Those that a class's description has weights for.
  [[nodiscard]] std::vector<std::string> attributes() const;
  /// d of the features it takes.
  [[nodiscard]] int64_t feature_dim() const;
  /// What is classified with unless a method is named: the fitted one, else the completion model's.
  [[nodiscard]] std::string default_method() const;
  /// The same for images that are looked at together: the transductive method of the same fitted file, else
  /// gauss-fusion. Throws UsageError when the fitted file has none.
  [[nodiscard]] std::string transductive_method() const;
  /// Whether unlabelled images change its answers (learns_from_unlabelled).
  [[nodiscard]] bool learns_from_unlabelled() const;
};

/// Whether the method's space adapts to the images, so that it learns from unlabelled ones.
bool learns_from_unlabelled(const Method& method);

/// How many unlabelled images a method's state holds.
int64_t unlabelled_in(MethodState state);

/// The method with these images, float32 [n, d], beside those that it has; itself where it does not learn from such, or
/// there are none.
std::shared_ptr<const Method> with_unlabelled(const std::shared_ptr<const Method>& method, const Array& images);

/// The method without any.
std::shared_ptr<const Method> without_unlabelled(const std::shared_ptr<const Method>& method);

/// Throws UsageError for a method that answers by more than the classes that are enrolled and their features.
void check_is_for_recognizers(const MethodSpec& method);

/// A completion model or a fitted method, told by the file's header. Throws Error.
StoreModel read_store_model(const std::filesystem::path& path);
/// The method inside a recognizer, as it was given. Throws Error.
StoreModel read_store_model(const RecognizerFile& file);

}  // namespace protocom
