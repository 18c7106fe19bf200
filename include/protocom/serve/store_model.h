#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "protocom/fewshot/completion_model.h"
#include "protocom/fewshot/fitted_method.h"
#include "protocom/serve/class_store.h"

namespace protocom {

/// The files that a store depends on. A store that is there knows its own; a path given takes the place of one that has
/// moved. A store has either a completion model or a fitted method.
struct StoreFiles {
  std::filesystem::path backbone;
  std::filesystem::path model;      ///< of `protocom complete` or `metatrain`
  std::filesystem::path fitted;     ///< of `protocom fit`
  std::filesystem::path knowledge;  ///< may be empty with a method that was fitted without knowledge
};

/// What a store's classes are told apart with: one of the two.
struct StoreModel {
  std::optional<CompletionModel> completion;
  std::optional<FittedMethod> fitted;
  std::optional<Preprocessing> preprocessing = {};  ///< of the images it was made from, where its file says so

  /// Those that a class's description has weights for.
  [[nodiscard]] std::vector<std::string> attributes() const;
  /// d of the features it takes.
  [[nodiscard]] int64_t feature_dim() const;
  /// What is classified with unless a method is named: the fitted one, else mean-fusion.
  [[nodiscard]] std::string default_method() const;
  /// The same for images that are looked at together: the transductive method of the same fitted file, else
  /// gauss-fusion. Throws UsageError when the fitted file has none.
  [[nodiscard]] std::string transductive_method() const;
};

/// Reads the file that the store was made with (see locate). Throws Error.
StoreModel read_store_model(const ClassStore& store, const std::filesystem::path& path, const StoreFiles& files);

}  // namespace protocom
