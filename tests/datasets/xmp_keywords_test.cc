// Sidecars as programs write them; what is not a keyword keeps its bytes.
#include "datasets/xmp_keywords.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/message_of.h"

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

}  // namespace
}  // namespace protocom::testing
