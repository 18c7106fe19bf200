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

/// The model of a recognizer: a completion model or a fitted method.
struct StoreModel {
  std::optional<CompletionModel> completion;
  std::optional<FittedMethod> fitted;
  std::optional<Preprocessing> preprocessing = {};  ///< of the images it was made from, if its file states it
  std::string knowledge_hash = {};  ///< hash_file of the knowledge it was made with; empty if its file states none

  /// The attributes that a class's description has weights for.
  [[nodiscard]] std::vector<std::string> attributes() const;
  /// Dimension d of the features that it takes.
  [[nodiscard]] int64_t feature_dim() const;
  /// Returns the method used unless one is named: the fitted one, else the completion model's.
  [[nodiscard]] std::string default_method() const;
  /// Returns the method for images classified together: the transductive method of the same fitted file, else
  /// gauss-fusion. Throws UsageError if the fitted file has none.
  [[nodiscard]] std::string transductive_method() const;
  /// Whether unlabelled images change its answers (learns_from_unlabelled).
  [[nodiscard]] bool learns_from_unlabelled() const;
};

/// Whether the method's space adapts to the images, so that it learns from unlabelled ones.
bool learns_from_unlabelled(const Method& method);

/// Returns the number of unlabelled images in a method's state.
int64_t unlabelled_in(MethodState state);

/// Returns the method with these images, float32 [n, d], added to its unlabelled ones; the method itself if it does not
/// learn from them, or there are none.
std::shared_ptr<const Method> with_unlabelled(const std::shared_ptr<const Method>& method, const Array& images);

/// Returns the method without unlabelled images.
std::shared_ptr<const Method> without_unlabelled(const std::shared_ptr<const Method>& method);

/// Throws UsageError for a method whose answers depend on more than the enrolled classes and their features.
void check_is_for_recognizers(const Method& method);

/// Reads a completion model or a fitted method, distinguished by the file's header. Throws Error.
StoreModel read_store_model(const std::filesystem::path& path);
/// Reads the method inside a recognizer. Throws Error.
StoreModel read_store_model(const RecognizerFile& file);

}  // namespace protocom
