#include "knowledge/word_vectors.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "io/files.h"
#include "knowledge/detail/vector_number.h"

namespace protocom {
namespace {

using Sum = std::vector<double>;

/// Returns the non-empty pieces of `text` between `separator`s.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

/// Reads the lines of one file in order.
class Reader {
 public:
  Reader(const std::filesystem::path& path, const std::set<std::string>& wanted) : path_(path) {
    for (const std::string& word : wanted) wanted_.emplace(word, false);
  }

  void take(int64_t number, std::string_view line) {
    line = trimmed(line);
    if (line.empty()) return;
    const int64_t spaces = std::count(line.begin(), line.end(), ' ');
    if (vectors_.dim == 0 && is_counts(number, line, spaces)) return;
    if (vectors_.dim == 0) vectors_.dim = spaces;
    if (spaces != vectors_.dim || spaces == 0) return check_spaced_word(number, line, spaces);
    keep_if_wanted(number, line);
  }

  WordVectors finish() {
    if (vectors_.dim == 0)
      fail("{}: no word vectors; expected lines of a word and its numbers, separated by spaces", path_.string());
    return std::move(vectors_);
  }

 private:
  /// Whether a line is "400000 300", the first line of word2vec and fastText.
  static bool is_counts(int64_t number, std::string_view line, int64_t spaces) {
    return number == 1 && spaces == 1 &&
           std::all_of(line.begin(), line.end(), [](unsigned char c) { return c == ' ' || std::isdigit(c) != 0; });
  }

  /// Checks a line with too many fields: "at name@domain.com 0.1 0.2 ..." is a word with spaces; "dog 0.1 0.2 ..." with
  /// an extra number is not.
  void check_spaced_word(int64_t number, std::string_view line, int64_t spaces) const {
    const std::vector<std::string_view> fields = split(line, ' ');
    const auto extra = static_cast<int64_t>(fields.size()) - 1 - vectors_.dim;
    bool spaced_word = vectors_.dim > 0 && extra > 0;
    for (int64_t i = 1; spaced_word && i <= extra; ++i) spaced_word = !vector_number(fields[i]);
    if (spaced_word) return;
    fail("{}:{}: '{}' has {} numbers, the first word has {}", path_.string(), number,
         excerpt(line.substr(0, line.find(' '))), spaces, vectors_.dim);
  }

  void keep_if_wanted(int64_t number, std::string_view line) {
    const std::string_view word = line.substr(0, line.find(' '));
    const auto found = wanted_.find(word);
    if (found == wanted_.end() || found->second) return;
    found->second = true;
    std::vector<float> values;
    values.reserve(static_cast<size_t>(vectors_.dim));
    for (const std::string_view field : split(line.substr(word.size()), ' ')) {
      const auto value = vector_number(field);
      if (!value || !std::isfinite(*value))
        fail("{}:{}: '{}' in the vector of '{}' is not a finite number", path_.string(), number, excerpt(field),
             excerpt(word));
      values.push_back(*value);
    }
    if (static_cast<int64_t>(values.size()) != vectors_.dim) {
      fail("{}:{}: '{}' has {} numbers, the first word has {}", path_.string(), number, word, values.size(),
           vectors_.dim);
    }
    vectors_.words.emplace(word, std::move(values));
  }

  const std::filesystem::path& path_;
  std::unordered_map<std::string_view, bool> wanted_;  // whether it was already found
  WordVectors vectors_;
};

/// A mean of vectors that ignores missing ones.
class Mean {
 public:
  template <typename Vector>
  void add(const Vector& vector) {
    if (sum_.empty()) sum_.resize(vector.size());
    for (size_t i = 0; i < vector.size(); ++i) sum_[i] += vector[i];
    ++count_;
  }

  /// Returns the mean; empty if nothing was added.
  [[nodiscard]] Sum value() const {
    Sum mean = sum_;
    for (double& x : mean) x /= count_;
    return mean;
  }

 private:
  Sum sum_;
  int count_ = 0;
};

template <typename Pieces, typename Embed>
Sum mean_of(const Pieces& pieces, const Embed& embed) {
  Mean mean;
  for (const auto& piece : pieces) {
    const Sum vector = embed(piece);
    if (!vector.empty()) mean.add(vector);
  }
  return mean.value();
}

Sum embed_word(const WordVectors& vectors, std::string_view word) {
  const std::vector<float>* vector = vectors.find(word);
  return vector == nullptr ? Sum() : Sum(vector->begin(), vector->end());
}

Sum embed_term(const WordVectors& vectors, std::string_view term, std::set<std::string>& missing) {
  Sum vector = embed_word(vectors, term);
  if (!vector.empty()) return vector;
  const std::vector<std::string_view> parts = split(term, '-');
  vector = mean_of(parts, [&](std::string_view part) {
    Sum found = embed_word(vectors, part);
    if (found.empty()) missing.emplace(part);
    return found;
  });
  return vector;
}

Sum embed_lemma(const WordVectors& vectors, std::string_view lemma, std::set<std::string>& missing) {
  Sum vector = embed_word(vectors, lemma);
  if (!vector.empty()) return vector;
  return mean_of(split(lemma, '_'), [&](std::string_view term) { return embed_term(vectors, term, missing); });
}

}  // namespace

const std::vector<float>* WordVectors::find(std::string_view word) const {
  auto found = words.find(std::string(word));
  if (found == words.end()) found = words.find(lowercase(word));
  return found == words.end() ? nullptr : &found->second;
}

void add_wanted_words(std::string_view lemma, std::set<std::string>& wanted) {
  const auto add = [&wanted](std::string_view word) {
    wanted.emplace(word);
    wanted.insert(lowercase(word));
  };
  add(lemma);
  for (const std::string_view term : split(lemma, '_')) {
    add(term);
    for (const std::string_view part : split(term, '-')) add(part);
  }
}

WordVectors read_word_vectors(const std::filesystem::path& path, const std::set<std::string>& wanted) {
  Reader reader(path, wanted);
  for_each_line(path, [&reader](int64_t number, std::string_view line) {
    reader.take(number, line);
    return true;
  });
  return reader.finish();
}

Array embed_lemmas(const WordVectors& vectors, const std::vector<std::string>& lemmas, std::set<std::string>& missing) {
  const Sum mean = mean_of(lemmas, [&](const std::string& lemma) { return embed_lemma(vectors, lemma, missing); });
  Array embedding = Array::zeros({vectors.dim});
  for (size_t i = 0; i < mean.size(); ++i) embedding.mutable_data<float>()[i] = static_cast<float>(mean[i]);
  return embedding;
}

}  // namespace protocom
