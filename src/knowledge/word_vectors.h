#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/array.h"

namespace protocom {

/// Vectors of those words that were requested.
struct WordVectors {
  int64_t dim = 0;                                            ///< e
  std::unordered_map<std::string, std::vector<float>> words;  ///< word -> [e]

  /// The vector of a word, as it is spelt, else of its small letters; nullptr when there is neither.
  [[nodiscard]] const std::vector<float>* find(std::string_view word) const;
};

/// Every spelling that embed_lemmas may look up for a lemma: itself, its '_'-separated terms, their '-'-separated
/// parts, and all of these in small letters.
void add_wanted_words(std::string_view lemma, std::set<std::string>& wanted);

/// Streams a file in GloVe's text format ("word x1 ... xe" a line; fastText's and word2vec's "count dimension" first
/// line is understood), plain or gzip, and keeps the wanted words only. A word stands as it is first spelt in the file;
/// words that hold spaces (GloVe 840B has some) are passed over. Memory grows with `wanted`, not with the file. Throws
/// Error with file and line for a line of another dimension than the first and for what is not a finite number in a
/// wanted line, and when the file has no vector at all.
WordVectors read_word_vectors(const std::filesystem::path& path, const std::set<std::string>& wanted);

/// The embedding h of something with these names: the mean over its lemmas of
///   - the lemma's vector, if the whole lemma is a word;
///   - else the mean over its '_'-separated terms of the term's vector, or else of the mean of its '-'-separated parts'
///   vectors.
/// What has no vector is left out of every mean and inserted into `missing`; zeros when nothing has one. float32 [e].
/// Source: the authors' published code (docs/paper-map.md); the look-up in small letters is ours, for vectors that were
/// trained on small letters only.
Array embed_lemmas(const WordVectors& vectors, const std::vector<std::string>& lemmas, std::set<std::string>& missing);

}  // namespace protocom
