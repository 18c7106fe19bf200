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

/// Vectors of the requested words.
struct WordVectors {
  int64_t dim = 0;                                            ///< e
  std::unordered_map<std::string, std::vector<float>> words;  ///< word -> [e]

  /// Returns the vector of a word as spelt, else in lower case; nullptr if there is neither.
  [[nodiscard]] const std::vector<float>* find(std::string_view word) const;
};

/// Adds every spelling that embed_lemmas may look up for a lemma: itself, its '_'-separated terms, their '-'-separated
/// parts, and all of these in lower case.
void add_wanted_words(std::string_view lemma, std::set<std::string>& wanted);

/// Streams a file in GloVe's text format ("word x1 ... xe" on each line; the "count dimension" line of fastText and
/// word2vec is accepted), plain or gzip, and keeps only the wanted words. The first entry of a word counts; words with
/// spaces (GloVe 840B has some) are skipped. Memory grows with `wanted`, not with the file. Throws Error with file and
/// line for a line with another dimension than the first and for a number that is not finite in a wanted line, and if
/// the file has no vector at all.
WordVectors read_word_vectors(const std::filesystem::path& path, const std::set<std::string>& wanted);

/// Returns the embedding h of something with these names: the mean over its lemmas of
///   - the lemma's vector, if the whole lemma is a word;
///   - else the mean over its '_'-separated terms of the term's vector, or else of the mean of its '-'-separated parts'
///     vectors.
/// Missing vectors are left out of every mean and their words inserted into `missing`; zeros if no word has one.
/// float32 [e]. Source: the authors' published code (docs/paper-map.md); the look-up in lower case is ours, for vectors
/// that were trained only on lower case.
Array embed_lemmas(const WordVectors& vectors, const std::vector<std::string>& lemmas, std::set<std::string>& missing);

}  // namespace protocom
