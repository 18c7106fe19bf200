#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace protocom::testing {

/// A synset of a hand-made database: our own key, its words, and pointers (symbol, key of the target).
struct MiniSynset {
  std::string key;
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> pointers;
};

/// Writes data.noun and index.noun in the format of wndb(5WN) and returns the wnid of each key.
inline std::map<std::string, std::string> write_mini_wordnet(const std::filesystem::path& folder,
                                                             const std::vector<MiniSynset>& synsets) {
  const std::string licence = "  1 A hand-made database.  \n  2 Every line of the licence begins with two spaces.  \n";
  const auto line = [](const MiniSynset& synset, const std::map<std::string, size_t>& offsets) {
    const auto at = [&offsets](const std::string& key) {
      const auto found = offsets.find(key);
      return fmt::format("{:08}", found == offsets.end() ? 0 : found->second);
    };
    std::string text = fmt::format("{} 03 n {:02x}", at(synset.key), synset.words.size());
    for (const std::string& word : synset.words) text += fmt::format(" {} 0", word);
    text += fmt::format(" {:03}", synset.pointers.size());
    for (const auto& [symbol, key] : synset.pointers) text += fmt::format(" {} {} n 0000", symbol, at(key));
    return text + fmt::format(" | the gloss of {}  \n", synset.key);
  };
  std::map<std::string, size_t> offsets;
  size_t offset = licence.size();
  for (const MiniSynset& synset : synsets) {
    offsets[synset.key] = offset;
    offset += line(synset, {}).size();
  }
  std::map<std::string, std::string> wnids;
  std::map<std::string, std::vector<size_t>> senses;
  std::ofstream data(folder / "data.noun", std::ios::binary);
  data << licence;
  for (const MiniSynset& synset : synsets) {
    data << line(synset, offsets);
    wnids[synset.key] = fmt::format("n{:08}", offsets[synset.key]);
    for (std::string word : synset.words) {
      std::transform(word.begin(), word.end(), word.begin(), ::tolower);
      senses[word].push_back(offsets[synset.key]);
    }
  }
  std::ofstream index(folder / "index.noun", std::ios::binary);
  index << licence;
  for (const auto& [word, synset_offsets] : senses) {
    index << fmt::format("{} n {} 2 @ %p {} 0", word, synset_offsets.size(), synset_offsets.size());
    for (const size_t sense : synset_offsets) index << fmt::format(" {:08}", sense);
    index << "  \n";
  }
  return wnids;
}

/// Writes a small world:
///
///     entity (%p: essence)
///       animal (%p: head)          pet (%p: collar)
///         dog (%p: tail, %s: flesh, %m: pack)   @ animal and @ pet: two paths
///           Rex (@i dog): an instance
///         bird (%p: wing, tail; words "bird", "fowl")
///       crane_machine: word "crane", first sense; crane_bird: word "crane", second sense, @ bird
inline std::map<std::string, std::string> write_animals(const std::filesystem::path& folder) {
  return write_mini_wordnet(folder, {{"entity", {"entity"}, {{"%p", "essence"}}},
                                     {"animal", {"animal"}, {{"@", "entity"}, {"%p", "head"}, {"~", "dog"}}},
                                     {"pet", {"pet"}, {{"@", "entity"}, {"%p", "collar"}}},
                                     {"dog",
                                      {"dog", "Canis_familiaris"},
                                      {{"@", "animal"}, {"@", "pet"}, {"%p", "tail"}, {"%s", "flesh"}, {"%m", "pack"}}},
                                     {"rex", {"Rex"}, {{"@i", "dog"}}},
                                     {"bird", {"bird", "fowl"}, {{"@", "animal"}, {"%p", "wing"}, {"%p", "tail"}}},
                                     {"crane_machine", {"crane"}, {{"@", "entity"}, {"%p", "hook"}}},
                                     {"crane_bird", {"crane"}, {{"@", "bird"}}},
                                     {"essence", {"essence"}, {}},
                                     {"head", {"head"}, {}},
                                     {"collar", {"collar"}, {}},
                                     {"tail", {"tail"}, {}},
                                     {"wing", {"wing"}, {}},
                                     {"hook", {"hook"}, {}},
                                     {"flesh", {"flesh"}, {}},
                                     {"pack", {"pack"}, {}}});
}

}  // namespace protocom::testing
