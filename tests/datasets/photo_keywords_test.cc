// Keywords as written by other programs: ExifTool 12.57 wrote the photos and the sidecar.
#include "datasets/photo_keywords.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/image_dataset.h"
#include "io/base64.h"
#include "io/files.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// IPTC in Latin-1: wren and Zaunkönig, with its umlaut.
constexpr const char* kIptcJpeg =
    "/9j/4AAQSkZJRgABAQAAAQABAAD/7QA6UGhvdG9zaG9wIDMuMAA4QklNBAQAAAAAAB4cAhkABHdyZW4cAhkACVphdW5r9m5pZxwCAAACAAT/"
    "2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4r"
    "K06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAIAAgDASIAAhEBAxEB/8QAHwAA"
    "AQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAk"
    "M2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ip"
    "qrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL"
    "/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNE"
    "RUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX"
    "2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwCjRRRXOewf/9k=";
/// XMP inside: wren.
constexpr const char* kXmpPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAABtWlUWHRYTUw6Y29tLmFkb2JlLnhtcAAAAAAAPD94cGFja2V0IGJlZ2luPSfv"
    "u78nIGlkPSdXNU0wTXBDZWhpSHpyZVN6TlRjemtjOWQnPz4KPHg6eG1wbWV0YSB4bWxuczp4PSdhZG9iZTpuczptZXRhLycgeDp4bXB0az0n"
    "SW1hZ2U6OkV4aWZUb29sIDEyLjU3Jz4KPHJkZjpSREYgeG1sbnM6cmRmPSdodHRwOi8vd3d3LnczLm9yZy8xOTk5LzAyLzIyLXJkZi1zeW50"
    "YXgtbnMjJz4KCiA8cmRmOkRlc2NyaXB0aW9uIHJkZjphYm91dD0nJwogIHhtbG5zOmRjPSdodHRwOi8vcHVybC5vcmcvZGMvZWxlbWVudHMv"
    "MS4xLyc+CiAgPGRjOnN1YmplY3Q+CiAgIDxyZGY6QmFnPgogICAgPHJkZjpsaT53cmVuPC9yZGY6bGk+CiAgIDwvcmRmOkJhZz4KICA8L2Rj"
    "OnN1YmplY3Q+CiA8L3JkZjpEZXNjcmlwdGlvbj4KPC9yZGY6UkRGPgo8L3g6eG1wbWV0YT4KPD94cGFja2V0IGVuZD0ncic/PtvpWkQAAAAU"
    "SURBVHicYzwhJ8eADTBhFR20EgDQygEUPmOomQAAAABJRU5ErkJggg==";
constexpr const char* kSidecar = R"(<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?>
<x:xmpmeta xmlns:x='adobe:ns:meta/' x:xmptk='Image::ExifTool 12.57'>
<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>

 <rdf:Description rdf:about=''
  xmlns:dc='http://purl.org/dc/elements/1.1/'>
  <dc:subject>
   <rdf:Bag>
    <rdf:li>holiday</rdf:li>
    <rdf:li>Robin</rdf:li>
   </rdf:Bag>
  </dc:subject>
 </rdf:Description>

 <rdf:Description rdf:about=''
  xmlns:lr='http://ns.adobe.com/lightroom/1.0/'>
  <lr:hierarchicalSubject>
   <rdf:Bag>
    <rdf:li>Animals|Birds|Robin</rdf:li>
    <rdf:li>Animals</rdf:li>
   </rdf:Bag>
  </lr:hierarchicalSubject>
 </rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end='w'?>)";

class PhotoKeywords : public ::testing::Test {
 protected:
  std::filesystem::path put(const std::string& name, const std::string& bytes) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    write_file(path, bytes);
    return path;
  }
  std::filesystem::path put_png(const std::string& name) { return put(name, from_base64(kXmpPng)); }
  std::filesystem::path put_jpeg(const std::string& name) { return put(name, from_base64(kIptcJpeg)); }

  TempDir folder_;
};

TEST_F(PhotoKeywords, AreReadInsideAPhotoAndBesideIt) {
  EXPECT_THAT(keywords_of(put_png("a.png")).plain, ElementsAre("wren"));
  EXPECT_THAT(keywords_of(put_jpeg("b.jpg")).plain, ElementsAre("wren", "Zaunk\u00f6nig")) << "Latin-1 becomes UTF-8";
  put("b.xmp", kSidecar);
  const XmpKeywords both = keywords_of(folder_ / "b.jpg");
  EXPECT_THAT(both.plain, ElementsAre("Robin", "holiday", "wren", "Zaunk\u00f6nig"));
  EXPECT_THAT(both.hierarchical, ElementsAre("Animals", "Animals|Birds|Robin"));
  put("c.png.xmp", kSidecar);
  EXPECT_THAT(keywords_of(put("c.png", "no picture")).plain, ElementsAre("Robin", "holiday"));
}

TEST_F(PhotoKeywords, OfACutJpegAreThoseThatAreThere) {
  const std::string whole = from_base64(kIptcJpeg);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_LE(keywords_of(put("cut.jpg", whole.substr(0, size))).plain.size(), 2U) << size;
}

TEST_F(PhotoKeywords, NameTheirClassByLevels) {
  const XmpKeywords words{{"holiday", "Robin"}, {"Animals", "Animals|Birds|Robin"}};
  EXPECT_THAT(classes_of(words, parse_keyword_choice("keywords")), ElementsAre("Robin"));
  EXPECT_THAT(classes_of(words, parse_keyword_choice("keywords:2")), ElementsAre("Birds"));
  EXPECT_THAT(classes_of(words, parse_keyword_choice("keywords:4")), IsEmpty());
  EXPECT_THAT(classes_of(words, parse_keyword_choice("keywords:Animals")), ElementsAre("Birds"));
  EXPECT_THAT(classes_of(words, parse_keyword_choice("keywords:Animals|Birds")), ElementsAre("Robin"));
  EXPECT_THAT(classes_of(words, parse_keyword_choice("keywords:Places")), IsEmpty());
  EXPECT_THAT(classes_of({{"a", "b"}, {}}, {}), ElementsAre("a", "b"));
  EXPECT_THAT(classes_of({{"a", "b"}, {}}, parse_keyword_choice("keywords:1")), IsEmpty())
      << "plain ones have no levels";
}

TEST_F(PhotoKeywords, ChoicesThatAreNoneAreRefused) {
  EXPECT_THAT(message_of([] { parse_keyword_choice("captions"); }), HasSubstr("expected keywords, keywords:LEVEL"));
  EXPECT_THAT(message_of([] { parse_keyword_choice("keywords:0"); }),
              HasSubstr("level '0', expected a number from 1 on"));
  EXPECT_THAT(message_of([] { parse_keyword_choice("keywords:"); }), HasSubstr("level ''"));
  EXPECT_THAT(message_of([] { parse_keyword_choice("keywords:99999999999999999999"); }),
              HasSubstr("expected a number"));
}

TEST_F(PhotoKeywords, MakeTheClassesOfAFolder) {
  put_png("2024/a.png");
  put_jpeg("2024/two.jpg");
  put_png("2025/b.png");
  put("2025/b.png.xmp", kSidecar);
  put_png("2025/broken.png");
  put("2025/broken.png.xmp", "<x:xmpmeta");
  put("2025/none.jpg", "no keyword");
  const Logged logged;
  ImageDatasetOptions any;
  any.lists.classes_from = "keywords";
  any.split_use = SplitUse::kIgnored;
  const ImageDataset dataset = list_images(folder_.path(), any);
  EXPECT_THAT(dataset.class_names, ElementsAre("Robin", "wren"));
  EXPECT_EQ(dataset.items.front().id, "2025/b.png");
  EXPECT_THAT(logged.text(), HasSubstr("1 without one, 1 with several, such as"));
  EXPECT_THAT(logged.text(), HasSubstr("two.jpg: 'wren' and 'Zaunk\u00f6nig'"));
  EXPECT_THAT(logged.text(), HasSubstr("1 with keywords that cannot be read, such as"));
}

TEST_F(PhotoKeywords, OfMoreThanAPhotoHasAreRefused) {
  std::vector<std::string> many(1001, "a");
  for (size_t i = 0; i < many.size(); ++i) many[i] += std::to_string(i);
  put("many.jpg.xmp", with_keywords("", {many, {}}, "many.jpg.xmp"));
  put("long.jpg.xmp", with_keywords("", {{}, {std::string(1001, 'a')}}, "long.jpg.xmp"));
  EXPECT_THAT(message_of([&] { keywords_of(put("many.jpg", "a photo")); }),
              HasSubstr("many.jpg.xmp: 1001 keywords, expected at most 1000"));
  EXPECT_THAT(message_of([&] { keywords_of(put("long.jpg", "a photo")); }),
              HasSubstr("long.jpg.xmp: a keyword of 1001 bytes, expected at most 1000"));
}

// One such photo among ten thousand stopped all of them, and was not named.
TEST_F(PhotoKeywords, ThatNoClassCanBeCalledLeaveTheirPhotoOut) {
  put_png("a.png");
  put("turned.jpg", "a photo");
  put("turned.jpg.xmp", with_keywords("", {{"\u202emoor\u202c"}, {}}, "turned.jpg.xmp"));
  const Logged logged;
  EXPECT_THAT(list_by_keywords(folder_.path(), {}), ::testing::SizeIs(1));
  EXPECT_THAT(logged.text(), HasSubstr("1 with keywords that cannot be read, such as "));
  EXPECT_THAT(logged.text(), HasSubstr("turned.jpg: the class name '?moor?' has control"));
}

TEST_F(PhotoKeywords, ThatNameNoClassAreSaid) {
  put_jpeg("two.jpg");
  EXPECT_THAT(message_of([&] { list_by_keywords(folder_.path(), {}); }),
              AllOf(HasSubstr("no photo has a keyword that names its class (photos: 1 with several, such as"),
                    HasSubstr("name the level or the parent")));
  EXPECT_THAT(message_of([&] { list_by_keywords(folder_ / "missing", {}); }), HasSubstr("cannot list the folder"));
  TempDir empty;
  EXPECT_THAT(message_of([&] { list_by_keywords(empty.path(), {}); }), HasSubstr("(photos: none)"));
}

}  // namespace
}  // namespace protocom::testing
