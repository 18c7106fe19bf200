#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/files.h"

namespace protocom {

/// The folder of the database in Debian's package wordnet-base.
inline constexpr const char* kWordNetFolder = "/usr/share/wordnet";

/// The pointers of wninput(5WN) that count as "has this attribute".
enum class Meronym { kPart, kSubstance, kMember };

/// Returns "part" (%p), "substance" (%s) or "member" (%m).
std::string_view to_string(Meronym relation);
/// Parses these words; throws UsageError for anything else.
Meronym parse_meronym(std::string_view text);

/// A noun synset. Synsets are named by wnid, as in ImageNet: "n" and the eight digits of the synset's offset in
/// data.noun.
struct Synset {
  std::string wnid;
  std::vector<std::string> lemmas;                       ///< as in the database, '_' for a space: "Yorkshire_terrier"
  std::vector<std::string> hypernyms;                    ///< wnids after @ and @i, in file order
  std::map<Meronym, std::vector<std::string>> meronyms;  ///< after %p, %s and %m, if any
  std::string gloss;
};

/// The nouns of a WordNet 3.0 database (the files data.noun and index.noun, format wndb(5WN)). The files are mapped and
/// a synset is parsed when it is requested, so opening costs nothing. Wnids are offsets: those of ImageNet belong to
/// WordNet 3.0, and another version is refused at the first synset that is not at its own offset. Thread-safe for
/// reading.
class WordNet {
 public:
  /// Throws Error if `folder` has no data.noun or index.noun, naming the package that contains them.
  explicit WordNet(const std::filesystem::path& folder = kWordNetFolder);

  /// Whether a synset begins at the offset stated by `wnid`. Never throws: "dog", "n2" or "n99999999" are false.
  [[nodiscard]] bool contains(std::string_view wnid) const;

  /// Returns the synset; throws Error if there is none or its line is malformed (file and offset).
  [[nodiscard]] Synset synset(std::string_view wnid) const;

  /// Returns the wnids of a lemma's senses, most frequent first; empty if index.noun has no such lemma. Ignores case,
  /// and accepts ' ' instead of '_'.
  [[nodiscard]] std::vector<std::string> senses(std::string_view lemma) const;

  /// Resolves a wnid ("n02084071"), a sense ("dog.n.01") or a lemma (its first sense) to a wnid; nothing if it is not
  /// in WordNet.
  [[nodiscard]] std::optional<std::string> resolve(std::string_view name) const;

  /// Returns the wnids of all synsets above `wnid`, through hypernyms and instance hypernyms and along every path;
  /// breadth first, without `wnid` itself, each once.
  [[nodiscard]] std::vector<std::string> ancestors(std::string_view wnid) const;

  /// Returns the attributes of a class (section 4.1): the meronyms of the synset and of all its ancestors; ascending,
  /// each once.
  [[nodiscard]] std::vector<std::string> attributes(std::string_view wnid,
                                                    const std::vector<Meronym>& relations = {Meronym::kPart}) const;

 private:
  [[nodiscard]] std::optional<std::string_view> line_at(std::string_view wnid) const;
  [[nodiscard]] std::string_view index_line(std::string_view lemma) const;

  std::filesystem::path data_path_;
  std::filesystem::path index_path_;
  MappedFile data_;
  MappedFile index_;
};

/// Returns a synset's lemmas for display: "Yorkshire terrier" or "dalmatian, coach dog, carriage dog".
std::string title(const Synset& synset);

}  // namespace protocom
