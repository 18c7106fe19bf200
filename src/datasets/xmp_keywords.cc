#include "datasets/xmp_keywords.h"

#include <expat.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr const char* kRdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
constexpr const char* kDublinCore = "http://purl.org/dc/elements/1.1/";
constexpr const char* kLightroom = "http://ns.adobe.com/lightroom/1.0/";
constexpr const char* kOwn = "http://protocom.invalid/xmp/1.0/";
constexpr const char* kProbability = "Probability";
constexpr char kBetween = ' ';  // a namespace and a name, of which neither has one
constexpr size_t kDeepest = 50;
constexpr size_t kLongestRead = 200;  // a namespace and a name
constexpr size_t kLongestNamespace = 1000;
constexpr size_t kMostWords = 100'000;  // in all properties

std::string name_in(const char* space, const char* name) { return fmt::format("{}{}{}", space, kBetween, name); }

/// Positions in a sidecar for reading and inserting keywords.
struct XmpPlaces {
  std::vector<std::string> path;                       // names of the open elements, from the root
  std::string text, wrong;                             // of the element; why it was refused
  std::map<std::string, std::set<std::string>> words;  // by property
  std::map<std::string, size_t> ends;                  // by property: the end tag of its list; npos: it has none
  size_t end = 0;                                      // the end tag of rdf:RDF; 0: none
  size_t probability = 0, probability_size = 0;        // text of our property; 0: none
  size_t count = 0;                                    // number of words
  XML_Parser parser = nullptr;
  std::string_view bytes = {};  // of the sidecar

  void stop(const char* reason) {
    wrong = reason;
    XML_StopParser(parser, XML_FALSE);
  }
};

/// Finds the probability among attributes: programs may write a property of one value as an attribute; its position is
/// that of the value within the tag.
void find_probability_among(const XML_Char** attributes, XmpPlaces& places) {
  for (; *attributes != nullptr; attributes += 2) {
    if (name_in(kOwn, kProbability) != attributes[0]) continue;
    const auto begin = static_cast<size_t>(XML_GetCurrentByteIndex(places.parser));
    const std::string_view tag =
        std::string_view(places.bytes).substr(begin, static_cast<size_t>(XML_GetCurrentByteCount(places.parser)));
    for (const char quote : {'"', '\''}) {
      const std::string written = fmt::format(":{}={}{}{}", kProbability, quote, attributes[1], quote);
      const size_t at = tag.find(written);
      if (at == std::string_view::npos) continue;
      places.probability_size = std::strlen(attributes[1]);
      places.probability = begin + at + written.size() - 1 - places.probability_size;
    }
  }
}

void on_start(void* data, const XML_Char* name, const XML_Char** attributes) {
  auto& places = *static_cast<XmpPlaces*>(data);
  find_probability_among(attributes, places);
  // A namespace of a megabyte is written once but prefixes the name of every element.
  places.path.emplace_back(::strnlen(name, kLongestRead + 1) > kLongestRead ? "?" : name);
  places.text.clear();
  if (places.path.size() > kDeepest) places.stop("elements within elements, deeper than any XMP");
}

void on_text(void* data, const XML_Char* text, int length) {
  static_cast<XmpPlaces*>(data)->text.append(text, static_cast<size_t>(length));
}

void on_end(void* data, const XML_Char* /*name*/) {
  auto& places = *static_cast<XmpPlaces*>(data);
  const std::string name = places.path.back();
  // An empty-element tag has no end tag: nothing can be inserted there.
  const bool has_tag = XML_GetCurrentByteCount(places.parser) > 0;
  const size_t at = has_tag ? static_cast<size_t>(XML_GetCurrentByteIndex(places.parser)) : std::string::npos;
  const std::vector<std::string>& path = places.path;
  const size_t depth = path.size();
  if (name == name_in(kRdf, "RDF") && has_tag) places.end = at;
  const bool is_own = name == name_in(kOwn, kProbability) && has_tag && places.text.size() < at;
  if (is_own && places.bytes.substr(at - places.text.size(), places.text.size()) == places.text) {
    places.probability_size = places.text.size();
    places.probability = at - places.text.size();
  }
  if (depth > 2 && name == name_in(kRdf, "li")) {
    places.words[path[depth - 3]].insert(places.text);
    if (++places.count > kMostWords) places.stop("more than 100,000 keywords");
  }
  const bool is_list = name == name_in(kRdf, "Bag") || name == name_in(kRdf, "Seq") || name == name_in(kRdf, "Alt");
  if (depth > 1 && is_list) places.ends[path[depth - 2]] = at;
  places.path.pop_back();
  places.text.clear();
}

void on_entity(void* data, const XML_Char*, int, const XML_Char*, int, const XML_Char*, const XML_Char*,
               const XML_Char*, const XML_Char*) {
  static_cast<XmpPlaces*>(data)->stop("it declares entities, which are not supported");
}

/// Refuses declared attributes: a DTD would add them to every element.
void on_declared_attribute(void* data, const XML_Char*, const XML_Char*, const XML_Char*, const XML_Char*, int) {
  static_cast<XmpPlaces*>(data)->stop("it declares attributes, which are not supported");
}

/// For a parser that does not resolve namespaces: attributes have the names in the file.
void on_declared_namespace(void* data, const XML_Char* /*name*/, const XML_Char** attributes) {
  constexpr std::string_view kNamespace = "xmlns";
  for (; *attributes != nullptr; attributes += 2) {
    if (std::strncmp(attributes[0], kNamespace.data(), kNamespace.size()) == 0 &&
        ::strnlen(attributes[1], kLongestNamespace + 1) > kLongestNamespace)
      return static_cast<XmpPlaces*>(data)->stop("a namespace of more than 1,000 bytes");
  }
}

/// Refuses UTF-16, since the inserted text is UTF-8.
void refuse_utf16(const std::string& bytes, const fs::path& path) {
  const std::string_view begin = std::string_view(bytes).substr(0, 2);
  const bool has_nul = begin.find('\0') != std::string_view::npos;
  if (has_nul || begin == "\xff\xfe" || begin == "\xfe\xff")
    fail("{}: its text is UTF-16, which is not supported: save it as UTF-8", path.string());
}

using XmpParser = std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)>;

bool parse_xmp(const XmpParser& parser, const std::string& bytes, const fs::path& path, XmpPlaces& places) {
  if (!parser) fail("{}: out of memory", path.string());
  places.parser = parser.get();
  places.bytes = bytes;
  XML_SetUserData(parser.get(), &places);
  XML_SetEntityDeclHandler(parser.get(), &on_entity);
  XML_SetAttlistDeclHandler(parser.get(), &on_declared_attribute);
  return XML_Parse(parser.get(), bytes.data(), static_cast<int>(bytes.size()), 1) == XML_STATUS_OK;
}

[[noreturn]] void fail_at(const XmpParser& parser, const fs::path& path, const std::string& wrong) {
  fail("{}:{}: {}", path.string(), XML_GetCurrentLineNumber(parser.get()), wrong);
}

/// Refuses long namespaces: a parser that resolves namespaces copies one for each attribute before any handler is
/// called.
void refuse_long_namespaces(const std::string& bytes, const fs::path& path) {
  const XmpParser parser(XML_ParserCreate("UTF-8"), &XML_ParserFree);
  if (parser) XML_SetStartElementHandler(parser.get(), &on_declared_namespace);
  XmpPlaces found;
  if (!parse_xmp(parser, bytes, path, found) && !found.wrong.empty()) fail_at(parser, path, found.wrong);
}

XmpPlaces places_in(const std::string& bytes, const fs::path& path) {
  refuse_utf16(bytes, path);
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) fail("{}: more than 2 GiB", path.string());
  refuse_long_namespaces(bytes, path);
  const XmpParser parser(XML_ParserCreateNS("UTF-8", kBetween), &XML_ParserFree);
  if (parser) {
    XML_SetElementHandler(parser.get(), &on_start, &on_end);
    XML_SetCharacterDataHandler(parser.get(), &on_text);
  }
  XmpPlaces places;
  if (!parse_xmp(parser, bytes, path, places))
    fail_at(parser, path, places.wrong.empty() ? XML_ErrorString(XML_GetErrorCode(parser.get())) : places.wrong);
  return places;
}

std::string escaped(std::string text) {
  text = replaced(text, "&", "&amp;");
  return replaced(replaced(text, "<", "&lt;"), ">", "&gt;");
}

/// Returns "rdf:" from the end tag "</rdf:Bag>". Throws Error if there is none there: the element is an empty-element
/// tag.
std::string prefix_at(const std::string& bytes, size_t place, const fs::path& path) {
  if (place == std::string::npos) fail("{}: an empty list of keywords, <rdf:Bag/>: remove it", path.string());
  const std::string tag = bytes.substr(place + 2, bytes.find('>', place) - place - 2);
  const size_t colon = tag.find(':');
  return colon == std::string::npos ? "" : tag.substr(0, colon + 1);
}

std::string items(const std::vector<std::string>& words, const std::string& prefix) {
  std::string all;
  for (const std::string& word : words) all += fmt::format("<{0}li>{1}</{0}li>", prefix, escaped(word));
  return all;
}

/// A keyword property and the values to write.
struct XmpProperty {
  const char* space;
  const char* prefix;
  const char* name;
  std::vector<std::string> words;
};

std::string description_of(const std::string& prefix, const char* space, const std::string& property) {
  return fmt::format("<rdf:Description xmlns:rdf=\"{}\" rdf:about=\"\" xmlns:{}=\"{}\">{}</rdf:Description>\n", kRdf,
                     prefix, space, property);
}

std::string new_property(const XmpProperty& property) {
  return description_of(property.prefix, property.space,
                        fmt::format("<{0}:{1}><rdf:Bag>{2}</rdf:Bag></{0}:{1}>", property.prefix, property.name,
                                    items(property.words, "rdf:")));
}

/// Returns the bytes with the probability, otherwise unchanged.
std::string with_probability(std::string bytes, double probability, const fs::path& path) {
  const std::string number = fmt::format("{:.4f}", probability);
  const XmpPlaces places = places_in(bytes, path);
  if (places.probability > 0) return bytes.replace(places.probability, places.probability_size, number);
  return bytes.insert(
      places.end,
      description_of("protocom", kOwn, fmt::format("<protocom:{0}>{1}</protocom:{0}>", kProbability, number)));
}

const std::string& empty_sidecar() {
  static const std::string kEmpty = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n<rdf:RDF "
      "xmlns:rdf=\"{}\">\n</rdf:RDF>\n</x:xmpmeta>\n",
      kRdf);
  return kEmpty;
}

/// Checks the result: a name may contain bytes that XML cannot hold, which would spoil the sidecar.
void check_written(const std::string& bytes, const XmpKeywords& keywords, const fs::path& path) {
  try {
    static_cast<void>(places_in(bytes, path));
  } catch (const Error&) {
    fail("{}: XML cannot hold the keywords '{}'", path.string(),
         excerpt(fmt::format("{}", fmt::join(keywords.plain, "', '"))));
  }
}

}  // namespace

XmpKeywords keywords_in(const std::string& xmp, const fs::path& path) {
  const XmpPlaces places = places_in(xmp, path);
  const auto words = [&](const char* space, const char* name) {
    const auto found = places.words.find(name_in(space, name));
    return found == places.words.end() ? std::vector<std::string>()
                                       : std::vector<std::string>(found->second.begin(), found->second.end());
  };
  return {words(kDublinCore, "subject"), words(kLightroom, "hierarchicalSubject"), {}};
}

std::string with_keywords(const std::string& sidecar, const XmpKeywords& keywords, const fs::path& path) {
  std::string bytes = sidecar.empty() ? empty_sidecar() : sidecar;
  const XmpPlaces places = places_in(bytes, path);
  if (places.end == 0) fail("{}: no XMP, it has no rdf:RDF with content", path.string());
  std::map<size_t, std::string, std::greater<>> inserted;  // from the end, so that earlier positions stay valid
  for (XmpProperty property : {XmpProperty{kDublinCore, "dc", "subject", keywords.plain},
                               XmpProperty{kLightroom, "lr", "hierarchicalSubject", keywords.hierarchical}}) {
    const std::string name = name_in(property.space, property.name);
    const auto known = places.words.find(name);
    const auto is_there = [&](const std::string& word) {
      return known != places.words.end() && known->second.count(word) > 0;
    };
    auto& words = property.words;
    words.erase(std::remove_if(words.begin(), words.end(), is_there), words.end());
    if (words.empty()) continue;
    const auto list = places.ends.find(name);
    if (list == places.ends.end())
      inserted[places.end] += new_property(property);
    else
      inserted[list->second] += items(words, prefix_at(bytes, list->second, path));
  }
  for (const auto& [place, text] : inserted) bytes.insert(place, text);
  if (!inserted.empty()) check_written(bytes, keywords, path);
  return keywords.probability ? with_probability(std::move(bytes), *keywords.probability, path) : bytes;
}

}  // namespace protocom
