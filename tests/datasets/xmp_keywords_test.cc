// Sidecars as written by programs; everything that is not a keyword keeps its bytes.
#include "datasets/xmp_keywords.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/text.h"
#include "support/message_of.h"
#include "support/most_memory.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

const std::string kHead =
    "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?>\n<x:xmpmeta xmlns:x='adobe:ns:meta/'>\n <rdf:RDF "
    "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\n  <rdf:Description rdf:about='' xmp:Rating='4' "
    "xmlns:xmp='http://ns.adobe.com/xap/1.0/' xmlns:dc='http://purl.org/dc/elements/1.1/'>\n";
const std::string kTail = "  </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end='w'?>\n";

TEST(XmpKeywords, MakeASidecarThatHoldsThemOnce) {
  const XmpKeywords words{{"birds", "tit & <robin>"}, {"birds|robin"}};
  const std::string made = with_keywords("", words, "a.jpg.xmp");
  EXPECT_THAT(
      made, HasSubstr("<dc:subject><rdf:Bag><rdf:li>birds</rdf:li><rdf:li>tit &amp; &lt;robin&gt;</rdf:li></rdf:Bag>"));
  EXPECT_THAT(made, HasSubstr("<lr:hierarchicalSubject><rdf:Bag><rdf:li>birds|robin</rdf:li></rdf:Bag>"));
  EXPECT_EQ(with_keywords(made, words, "a.jpg.xmp"), made) << "read again, nothing is missing";
}

TEST(XmpKeywords, ComeIntoTheListThatIsThereAndChangeNothingElse) {
  const std::string list = "   <dc:subject>\n    <rdf:Bag>\n     <rdf:li>holiday</rdf:li>\n    ";
  const std::string given = kHead + list + "</rdf:Bag></dc:subject>\n" + kTail;
  EXPECT_EQ(with_keywords(given, {{"holiday", "robin"}, {}}, "a.xmp"),
            kHead + list + "<rdf:li>robin</rdf:li></rdf:Bag></dc:subject>\n" + kTail);
  EXPECT_EQ(with_keywords(given, {{"holiday"}, {}}, "a.xmp"), given);
  const std::string other = with_keywords(kHead + kTail, {{"robin"}, {}}, "a.xmp");
  const size_t end = (kHead + kTail).find("</rdf:RDF>");
  EXPECT_EQ(other.substr(0, end), (kHead + kTail).substr(0, end));
  EXPECT_THAT(other.substr(end), HasSubstr("<dc:subject><rdf:Bag><rdf:li>robin</rdf:li></rdf:Bag></dc:subject>"));
  EXPECT_EQ(with_keywords(other, {{"robin"}, {}}, "a.xmp"), other);
}

// exiftool 13 and Lightroom read it as XMP-protocom:Probability; the latter may write it again as an attribute.
TEST(XmpKeywords, HaveTheProbabilityOfTheAnswerWhichTakesThePlaceOfTheLastOne) {
  XmpKeywords words{{"robin"}, {}, 0.93456};
  const std::string made = with_keywords("", words, "a.xmp");
  EXPECT_THAT(made, HasSubstr(" xmlns:protocom=\"http://protocom.invalid/xmp/1.0/\"><protocom:Probability>0.9346"
                              "</protocom:Probability></rdf:Description>\n</rdf:RDF>"));
  EXPECT_EQ(with_keywords(made, words, "a.xmp"), made);
  words.probability = 0.5;
  EXPECT_EQ(with_keywords(made, words, "a.xmp"), replaced(made, "0.9346", "0.5000"));
  const std::string attribute = replaced(kHead, "xmp:Rating='4'",
                                         "xmp:Rating='4' p:Probability='0.93' "
                                         "xmlns:p='http://protocom.invalid/xmp/1.0/'") +
                                kTail;
  EXPECT_EQ(with_keywords(attribute, {{}, {}, 0.5}, "a.xmp"), replaced(attribute, "0.93", "0.5000"));
}

TEST(XmpKeywords, OfOtherPrefixesAreFoundByTheirNamespaces) {
  const std::string given =
      "<m xmlns='adobe:ns:meta/'><r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><r:Description "
      "r:about='' "
      "xmlns:d='http://purl.org/dc/elements/1.1/'><d:subject><r:Bag><r:li>a</r:li></r:Bag></d:subject></r:Description>"
      "</r:RDF></m>";
  EXPECT_THAT(with_keywords(given, {{"b"}, {}}, "a.xmp"), HasSubstr("<r:li>a</r:li><r:li>b</r:li></r:Bag>"));
}

TEST(XmpKeywords, OfWhatIsNoXmpAreRefused) {
  const auto error = [](const std::string& bytes) {
    return message_of([&] { with_keywords(bytes, {{"robin"}, {}}, "a.xmp"); });
  };
  EXPECT_THAT(error("<html></html>"), HasSubstr("a.xmp: no XMP"));
  EXPECT_THAT(error("<x:xmpmeta>"), HasSubstr("a.xmp:1: "));
  EXPECT_THAT(error("<!DOCTYPE a [<!ENTITY a \"ha\">]><a>&a;</a>"), HasSubstr("declares entities"));
  EXPECT_THAT(error(kHead + "<dc:subject><rdf:Bag/></dc:subject>" + kTail), HasSubstr("empty list of keywords"));
}

// Took five gigabytes and minutes: a namespace is written once but precedes the name of every element and attribute in
// it.
TEST(XmpKeywords, OfLongNamespacesAndDeepElementsTakeLittle) {
  const auto begin = [](size_t length) {
    return "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:a='" + std::string(length, 'u') + "'>";
  };
  const auto error = [](const std::string& bytes) {
    return message_of([&] { with_keywords(bytes, {{"robin"}, {}}, "a.xmp"); });
  };
  std::string flat, deep, attributes, in_one = "<b";
  for (int i = 0; i < 300'000; ++i) flat += "<a:b/>";
  for (int i = 0; i < 50'000; ++i) deep += "<a:b>";
  for (int i = 0; i < 20'000; ++i) attributes += "<b a:c='1'/>";
  for (int i = 0; i < 20'000; ++i) in_one += " a:c" + std::to_string(i) + "='1'";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(with_keywords(begin(1000) + flat + "</r:RDF>", {{"robin"}, {}}, "a.xmp"),
              HasSubstr("<rdf:li>robin</rdf:li>"));
  for (const std::string& content : {flat, attributes, in_one + "/>"})
    EXPECT_THAT(error(begin(1'000'000) + content + "</r:RDF>"), HasSubstr("a.xmp:1: a namespace of more than 1,000"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  const int64_t bytes = most_memory_of([&] { EXPECT_THAT(error(begin(1000) + deep), HasSubstr("deeper than")); });
  EXPECT_LT(bytes, int64_t{100} << 20);
}

// Each of a hundred thousand elements would get all of the ten thousand attributes.
TEST(XmpKeywords, OfADocumentThatDeclaresAttributesAreRefused) {
  std::string bytes = "<!DOCTYPE x [";
  for (int i = 0; i < 10'000; ++i) bytes += "<!ATTLIST b a" + std::to_string(i) + " CDATA \"1\">";
  bytes += "]><x>";
  for (int i = 0; i < 100'000; ++i) bytes += "<b/>";
  EXPECT_THAT(message_of([&] { keywords_in(bytes + "</x>", "a.xmp"); }), HasSubstr("a.xmp:1: it declares attributes"));
}

TEST(XmpKeywords, BeyondEveryPhotosAreNotAllKept) {
  std::string bytes = "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><s><r:Bag>";
  for (int i = 0; i < 100'001; ++i) bytes += "<r:li>" + std::to_string(i) + "</r:li>";
  EXPECT_THAT(message_of([&] { keywords_in(bytes, "a.xmp"); }), HasSubstr("a.xmp:1: more than 100,000 keywords"));
}

TEST(XmpKeywords, ThatWouldSpoilASidecarAreRefused) {
  const auto error = [](const std::string& bytes, const std::string& word) {
    return message_of([&] { with_keywords(bytes, {{word}, {}}, "a.xmp"); });
  };
  std::string wide = "\xff\xfe";
  for (const char c : kHead + kTail) wide.append(1, c).append(1, '\0');
  EXPECT_THAT(error(wide, "robin"), HasSubstr("a.xmp: its text is UTF-16"));
  EXPECT_THAT(error(wide.substr(2), "robin"), HasSubstr("a.xmp: its text is UTF-16"));
  EXPECT_THAT(error("", "robin\xff"), HasSubstr("a.xmp: XML cannot hold the keywords"));
  EXPECT_THAT(error(kHead + kTail, "robin\x01"), HasSubstr("a.xmp: XML cannot hold the keywords"));
}

TEST(XmpKeywords, ComeIntoAListOfAlternatives) {
  const std::string list = "<dc:subject><rdf:Alt><rdf:li>holiday</rdf:li>";
  const std::string end = "</rdf:Alt></dc:subject>" + kTail;
  EXPECT_EQ(with_keywords(kHead + list + end, {{"robin"}, {}}, "a.xmp"), kHead + list + "<rdf:li>robin</rdf:li>" + end);
}

}  // namespace
}  // namespace protocom::testing
