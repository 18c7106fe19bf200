#pragma once
#include <filesystem>

namespace protocom::text {

/// How the states of a text's tokens become its vector.
enum class Pooling {
  kMean,  ///< their mean
  kFirst  ///< the first one's, BERT's [CLS]
};

/// The network's settings in a folder of `sentence_transformers`.
struct SentenceModules {
  std::filesystem::path folder;      ///< of config.json, the weights and the tokenizer
  Pooling pooling = Pooling::kMean;  ///< the default of `sentence_transformers`
  bool normalise = false;            ///< to unit length
};

/// Reads modules.json and the folders that it names; a folder without it is a plain network. Throws Error that names a
/// module or a pooling that is not known, a path that leads out of the folder, and a prompt put before every text.
SentenceModules read_sentence_modules(const std::filesystem::path& folder);

}  // namespace protocom::text
