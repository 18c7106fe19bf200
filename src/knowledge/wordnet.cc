#include "knowledge/wordnet.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <unordered_set>

#include "base/enum_words.h"
#include "base/error.h"
#include "base/text.h"

namespace protocom {
namespace {

constexpr EnumWord<Meronym> kMeronyms[] = {
    {Meronym::kPart, "part"}, {Meronym::kSubstance, "substance"}, {Meronym::kMember, "member"}};

constexpr size_t kOffsetDigits = 8;

std::filesystem::path database_file(const std::filesystem::path& folder, const char* name) {
  std::filesystem::path path = folder / name;
  if (!std::filesystem::is_regular_file(path)) {
    fail(
        "{}: not found; expected the WordNet 3.0 database there (Debian: apt install wordnet-base; or name its folder "
        "with --wordnet)",
        path.string());
  }
  return path;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool looks_like_wnid(std::string_view text) {
  return text.size() == 1 + kOffsetDigits && text[0] == 'n' && all_digits(text.substr(1));
}

std::string index_spelling(std::string_view lemma) {
  std::string spelling = lowercase(lemma);
  std::replace(spelling.begin(), spelling.end(), ' ', '_');
  return spelling;
}

/// Reads the space-separated fields of one database line in order. Throws Error with the place of a missing or wrong
/// one.
class Fields {
 public:
  Fields(std::string_view line, std::string where) : rest_(line), where_(std::move(where)) {}

  std::string_view text(const char* what) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    const std::string_view field = rest_.substr(0, rest_.find(' '));
    if (field.empty()) fail("{}: the line ends before its {}; this is not a WordNet 3.0 database", where_, what);
    rest_.remove_prefix(field.size());
    return field;
  }

  int number(const char* what, int base) {
    const std::string_view field = text(what);
    int value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value, base);
    if (error != std::errc() || end != field.data() + field.size() || value < 0) {
      fail("{}: '{}' is not a {}; this is not a WordNet 3.0 database", where_, field, what);
    }
    return value;
  }

  /// Returns the text after the vertical bar.
  std::string gloss() const {
    const size_t bar = rest_.find("| ");
    if (bar == std::string_view::npos) return {};
    std::string_view text = rest_.substr(bar + 2);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    return std::string(text);
  }

 private:
  std::string_view rest_;
  std::string where_;
};

std::vector<std::string>* relation_list(Synset& synset, std::string_view pointer) {
  if (pointer == "@" || pointer == "@i") return &synset.hypernyms;
  if (pointer == "%p") return &synset.meronyms[Meronym::kPart];
  if (pointer == "%s") return &synset.meronyms[Meronym::kSubstance];
  if (pointer == "%m") return &synset.meronyms[Meronym::kMember];
  return nullptr;
}

void read_pointers(Fields& fields, Synset& synset) {
  const int count = fields.number("number of pointers", 10);
  for (int i = 0; i < count; ++i) {
    const std::string_view symbol = fields.text("pointer symbol");
    const std::string_view offset = fields.text("pointer offset");
    const std::string_view part_of_speech = fields.text("pointer part of speech");
    fields.text("pointer source and target");
    std::vector<std::string>* list = relation_list(synset, symbol);
    if (list != nullptr && part_of_speech == "n") list->push_back("n" + std::string(offset));
  }
}

Synset parse_synset(std::string_view line, const std::string& where) {
  Fields fields(line, where);
  Synset synset;
  synset.wnid = "n" + std::string(fields.text("offset"));
  fields.text("lexicographer file");
  fields.text("synset type");
  const int words = fields.number("number of words", 16);
  for (int i = 0; i < words; ++i) {
    synset.lemmas.emplace_back(fields.text("word"));
    fields.text("lexical id");
  }
  read_pointers(fields, synset);
  synset.gloss = fields.gloss();
  return synset;
}

/// Parses "dog.n.01" into {"dog", 1}; nothing if the text has another form.
std::optional<std::pair<std::string_view, size_t>> parse_sense(std::string_view text) {
  const size_t dot = text.rfind(".n.");
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  const auto sense = number_from<size_t>(text.substr(dot + 3));
  if (!sense || *sense == 0) return std::nullopt;
  return std::pair(text.substr(0, dot), *sense);
}

}  // namespace

std::string_view to_string(Meronym relation) { return word_of(kMeronyms, relation); }

Meronym parse_meronym(std::string_view text) { return value_of(kMeronyms, text, "meronym relation"); }

WordNet::WordNet(const std::filesystem::path& folder)
    : data_path_(database_file(folder, "data.noun")),
      index_path_(database_file(folder, "index.noun")),
      data_(data_path_),
      index_(index_path_) {}

std::optional<std::string_view> WordNet::line_at(std::string_view wnid) const {
  if (!looks_like_wnid(wnid)) return std::nullopt;
  const std::string_view digits = wnid.substr(1);
  size_t offset = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), offset);
  const std::string_view data = data_.bytes();
  if (offset >= data.size() || (offset > 0 && data[offset - 1] != '\n')) return std::nullopt;
  const std::string_view line = data.substr(offset, data.find('\n', offset) - offset);
  // If a line states another offset, the file's line ends or version were changed.
  if (line.substr(0, kOffsetDigits + 1) != std::string(digits) + " ") return std::nullopt;
  return line;
}

bool WordNet::contains(std::string_view wnid) const { return line_at(wnid).has_value(); }

Synset WordNet::synset(std::string_view wnid) const {
  const auto line = line_at(wnid);
  if (!line) {
    fail("{}: no synset '{}'; expected n and the eight digits of a WordNet 3.0 offset", data_path_.string(), wnid);
  }
  return parse_synset(*line, fmt::format("{}: synset {}", data_path_.string(), wnid));
}

std::string_view WordNet::index_line(std::string_view lemma) const {
  // index.noun is sorted by bytes and its licence lines begin with spaces, which sort before every lemma.
  const std::string_view index = index_.bytes();
  size_t low = 0;
  size_t high = index.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const size_t before = middle == 0 ? std::string_view::npos : index.rfind('\n', middle - 1);
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const size_t end = std::min(index.find('\n', begin), index.size());
    const std::string_view line = index.substr(begin, end - begin);
    const std::string_view key = line.substr(0, line.find(' '));
    if (key == lemma) return line;
    if (key < lemma) {
      low = end + 1;
    } else {
      high = begin;
    }
  }
  return {};
}

std::vector<std::string> WordNet::senses(std::string_view lemma) const {
  const std::string spelling = index_spelling(lemma);
  const std::string_view line = spelling.empty() ? std::string_view() : index_line(spelling);
  if (line.empty()) return {};
  Fields fields(line, fmt::format("{}: lemma {}", index_path_.string(), spelling));
  fields.text("lemma");
  fields.text("part of speech");
  const int synsets = fields.number("number of synsets", 10);
  const int pointers = fields.number("number of pointers", 10);
  for (int i = 0; i < pointers; ++i) fields.text("pointer symbol");
  fields.text("number of senses");
  fields.text("number of tagged senses");
  std::vector<std::string> wnids;
  for (int i = 0; i < synsets; ++i) wnids.push_back("n" + std::string(fields.text("synset offset")));
  return wnids;
}

std::optional<std::string> WordNet::resolve(std::string_view name) const {
  if (contains(name)) return std::string(name);
  const auto sense = parse_sense(name);
  const std::vector<std::string> wnids = senses(sense ? sense->first : name);
  const size_t rank = sense ? sense->second : 1;
  if (rank > wnids.size()) return std::nullopt;
  return wnids[rank - 1];
}

std::vector<std::string> WordNet::ancestors(std::string_view wnid) const {
  std::vector<std::string> queue = {std::string(wnid)};
  std::unordered_set<std::string> seen(queue.begin(), queue.end());
  for (size_t next = 0; next < queue.size(); ++next) {
    for (std::string& hypernym : synset(queue[next]).hypernyms) {
      if (seen.insert(hypernym).second) queue.push_back(std::move(hypernym));
    }
  }
  queue.erase(queue.begin());
  return queue;
}

std::vector<std::string> WordNet::attributes(std::string_view wnid, const std::vector<Meronym>& relations) const {
  std::vector<std::string> holders = ancestors(wnid);
  holders.emplace_back(wnid);
  std::set<std::string> found;
  for (const std::string& holder : holders) {
    const Synset parsed = synset(holder);
    for (const Meronym relation : relations) {
      if (const auto named = parsed.meronyms.find(relation); named != parsed.meronyms.end())
        found.insert(named->second.begin(), named->second.end());
    }
  }
  return {found.begin(), found.end()};
}

std::string title(const Synset& synset) {
  std::string text;
  for (const std::string& lemma : synset.lemmas) text += (text.empty() ? "" : ", ") + lemma;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace protocom
