#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/files.h"

namespace protocom {

/// Where Debian's package wordnet-base puts the database.
inline constexpr const char* kWordNetFolder = "/usr/share/wordnet";

/// Which pointers of wninput(5WN) count as "has this attribute".
enum class Meronym { kPart, kSubstance, kMember };

/// "part" (%p), "substance" (%s) or "member" (%m).
std::string_view to_string(Meronym relation);
/// The inverse; throws UsageError for anything else.
Meronym parse_meronym(std::string_view text);

/// A noun synset. Synsets are named by wnid, as ImageNet does: "n" and the eight digits of the synset's offset in
/// data.noun.
struct Synset {
  std::string wnid;
  std::vector<std::string> lemmas;     ///< as spelt in the database, '_' for a space: "Yorkshire_terrier"
  std::vector<std::string> hypernyms;  ///< wnids behind @ and @i, in file order
  std::map<Meronym, std::vector<std::string>> meronyms;  ///< behind %p, %s and %m, if there is one
  std::string gloss;
};

/// The nouns of a WordNet 3.0 database (the files data.noun and index.noun, format wndb(5WN)). The files are mapped and
/// a synset is parsed when it is requested, so opening costs nothing. Wnids are offsets: those of ImageNet belong to
/// WordNet 3.0, and another version is refused by the first of its synsets that does not stand at its own offset.
/// Thread-safe for reading.
class WordNet {
 public:
  /// Throws Error when `folder` has no data.noun or index.noun, saying which package brings them.
  explicit WordNet(const std::filesystem::path& folder = kWordNetFolder);

  /// Whether a synset begins at the offset that `wnid` names. Never throws: "dog", "n2" or "n99999999" are false.
  [[nodiscard]] bool contains(std::string_view wnid) const;

  /// The synset; throws Error when there is none or when its line is malformed (file and offset).
  [[nodiscard]] Synset synset(std::string_view wnid) const;

  /// The wnids of a lemma's senses, most frequent first; empty when index.noun has no such lemma. Case, and ' ' instead
  /// of '_', do not matter.
  [[nodiscard]] std::vector<std::string> senses(std::string_view lemma) const;

  /// A wnid ("n02084071"), a sense ("dog.n.01") or a lemma (its first sense) -> wnid; nothing when WordNet does not
  /// know it.
  [[nodiscard]] std::optional<std::string> resolve(std::string_view name) const;

  /// The wnids of all synsets above `wnid`, through hypernyms and instance hypernyms and along every path; breadth
  /// first, without `wnid` itself, each once.
  [[nodiscard]] std::vector<std::string> ancestors(std::string_view wnid) const;

  /// The attributes of a class (section 4.1): the meronyms of the synset and of all its ancestors; ascending, each
  /// once.
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

/// A synset's lemmas as they are shown: "Yorkshire terrier" or "dalmatian, coach dog, carriage dog".
std::string title(const Synset& synset);

}  // namespace protocom
