#pragma once
#include <filesystem>

namespace protocom::text {

/// How the hidden states of a text's tokens are combined into its vector.
enum class Pooling {
  kMean,  ///< the mean
  kFirst  ///< the first state, BERT's [CLS]
};

/// The network's settings in a folder of `sentence_transformers`.
struct SentenceModules {
  std::filesystem::path folder;      ///< with config.json, the weights and the tokenizer
  Pooling pooling = Pooling::kMean;  ///< the default of `sentence_transformers`
  bool normalise = false;            ///< scale to unit length
};

/// Reads modules.json and the folders that it names; a folder without it is a plain network. Throws Error that names an
/// unknown module or pooling, a path that leads out of the folder, and a prompt put before every text.
SentenceModules read_sentence_modules(const std::filesystem::path& folder);

}  // namespace protocom::text
