#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/recognizers.h"
#include "images/image.h"
#include "support/raw_photos.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns what follows `name` and a comma in the lines of a CSV, in order.
std::vector<std::string> cells_beside(const std::string& csv, const std::string& name) {
  std::vector<std::string> cells;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(name + ",", 0) == 0) cells.push_back(line.substr(name.size() + 1));
  }
  return cells;
}

/// Returns the first base class of a split.
std::string base_class_of(const std::string& split) {
  const size_t end = split.find(",base");
  const size_t begin = split.rfind('\n', end) + 1;
  return split.substr(begin, end - begin);
}

TEST_F(Recognizers, FindAClassHoweverItsNameIsWritten) {
  ASSERT_EQ(create("names.pcm").exit_code, 0);
  const std::string image = (out("images") / first_image()).string();
  const std::string composed = "caf\xc3\xa9", decomposed = "cafe\xcc\x81";
  ASSERT_EQ(protocom(folder_->path(), {"enrol", "names.pcm", image, "--class", decomposed}).exit_code, 0);
  const Outcome listed = protocom(folder_->path(), {"classes", "show", "names.pcm", decomposed, "--json"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr(composed));
  EXPECT_EQ(protocom(folder_->path(), {"classes", "rename", "names.pcm", decomposed, "K "}).exit_code, 0);
  EXPECT_EQ(protocom(folder_->path(), {"classes", "remove", "names.pcm", "\xe2\x84\xaa"}).exit_code, 0);
  for (const std::vector<std::string>& blank :
       {std::vector<std::string>{"enrol", "names.pcm", image, "--class", "\xc2\xa0"},
        {"classes", "show", "names.pcm", " "},
        {"classes", "remove", "names.pcm", "\xe3\x80\x80"}}) {
    const Outcome refused = protocom(folder_->path(), blank);
    EXPECT_EQ(refused.exit_code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("a class needs a name"));
  }
}

TEST_F(Recognizers, ShowNamesThatAreNoUtf8) {
  ASSERT_EQ(create("no-utf8.pcm").exit_code, 0);
  const Outcome outcome = protocom(folder_->path(), {"classify", "no-utf8.pcm", "caf\xe9.png"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("caf\\xe9.png: no such file"));
  const Outcome unknown = protocom(folder_->path(), {"classes", "show", "no-utf8.pcm", "caf\xe9"});
  EXPECT_THAT(unknown.err, HasSubstr("no class 'caf\\xe9'"));
}

TEST_F(Recognizers, ImagesThatCannotBeReadAreNamedAndDoNotStopTheOthers) {
  const fs::path images = folder_->path() / "out/images";
  const std::string name = first_image();
  const std::string folder = name.substr(0, name.find('/'));
  const std::string recognizer = "damaged.pcm";
  const std::string one = (images / name).string();
  ASSERT_EQ(create(recognizer).exit_code, 0);
  ASSERT_EQ(protocom(folder_->path(), {"enrol", recognizer, one, "--class", folder}).exit_code, 0);
  write_text(*folder_ / "mixed/a.jpg", read_text(one));
  write_text(*folder_ / "mixed/b.jpg", read_text(one).substr(0, 200));
  const Outcome outcome = protocom(folder_->path(), {"classify", recognizer, "mixed", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("mixed/a.jpg," + folder + ",1.000000"));
  EXPECT_THAT(outcome.err, HasSubstr("mixed/b.jpg"));
  EXPECT_THAT(outcome.err, HasSubstr("1 of 2 images could not be read"));
  const std::string before = read_text(*folder_ / recognizer);
  EXPECT_EQ(protocom(folder_->path(), {"enrol", recognizer, "mixed/b.jpg", "--class", folder}).exit_code, 1);
  EXPECT_EQ(read_text(*folder_ / recognizer), before) << "a failed enrolment changed the recognizer";
}

TEST_F(Recognizers, CreatingWithImagesOfWhichNoneCanBeReadLeavesNoFile) {
  write_text(folder_->path() / "broken/okapi/1.png", "no image");
  const Outcome made = create("none.pcm", {"--images", "broken"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_THAT(made.err, HasSubstr("nothing was enrolled"));
  EXPECT_FALSE(fs::exists(folder_->path() / "none.pcm"));
}

TEST_F(Recognizers, AnUnknownAttributeIsAnsweredWithItsNeighbours) {
  const std::string one = (out("images") / first_image()).string();
  const std::string attributes = read_text(out("images/attributes.csv"));
  const size_t line = attributes.find('\n') + 1;
  const std::string row = attributes.substr(line, attributes.find('\n', line) - line);
  const std::string attribute = row.substr(row.find(',') + 1);
  ASSERT_EQ(create("typo.pcm").exit_code, 0);
  const Outcome outcome =
      protocom(folder_->path(), {"enrol", "typo.pcm", one, "--class", "new", "--attributes", attribute + "x"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("'" + attribute + "x'; did you mean '"));
}

TEST_F(Recognizers, AttributesThatTakeThePlaceOfOthersAreSaidToDoSo) {
  const std::string name = base_class_of(read_text(out("images/split.csv")));
  const std::vector<std::string> has = cells_beside(read_text(out("images/attributes.csv")), name);
  ASSERT_GE(has.size(), 2u);
  ASSERT_EQ(create("again.pcm").exit_code, 0);
  const auto described = [&](const std::string& attributes) {
    const Outcome outcome =
        protocom(folder_->path(), {"enrol", "again.pcm", "--class", "Blue Jay", "--attributes", attributes});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_THAT(described(has[0] + "," + has[1]), Not(HasSubstr("in place of"))) << "the class is new";
  EXPECT_THAT(described(has[1] + "," + has[0]), Not(HasSubstr("in place of"))) << "they are the same";
  EXPECT_THAT(described(has[0]), HasSubstr("1, in place of 2"));
  EXPECT_EQ(protocom(folder_->path(), {"undo", "again.pcm"}).out,
            "undone: describe 'Blue Jay' by 1 attribute\nprotocom redo again.pcm repeats it\n"
            "the next undo reverts: describe 'Blue Jay' by 2 attributes\n");
}

TEST_F(Recognizers, AClassOfWhichNothingIsKnownIsRefused) {
  ASSERT_EQ(create("blank.pcm").exit_code, 0);
  const std::string before = read_text(*folder_ / "blank.pcm");
  write_text(*folder_ / "blank.csv", "class,image\nempty,\n");
  for (const char* option : {"--class", "--csv"}) {
    const std::string value = std::string(option) == "--csv" ? "blank.csv" : "empty";
    const Outcome refused = protocom(folder_->path(), {"enrol", "blank.pcm", option, value});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("unknown class 'empty': give images of it, its attributes"));
  }
  EXPECT_EQ(read_text(*folder_ / "blank.pcm"), before);
  const std::string known = base_class_of(read_text(out("images/split.csv")));
  EXPECT_EQ(protocom(folder_->path(), {"enrol", "blank.pcm", "--class", known}).exit_code, 0)
      << "the knowledge describes it";
  const std::string image = (out("images") / first_image()).string();
  ASSERT_EQ(protocom(folder_->path(), {"enrol", "blank.pcm", image, "--class", "there"}).exit_code, 0);
  EXPECT_EQ(protocom(folder_->path(), {"enrol", "blank.pcm", "--class", "there"}).exit_code, 0);
}

TEST_F(Recognizers, ANewClassWhoseNameIsAlmostAnOldOneIsPointedOut) {
  const std::string image = (out("images") / first_image()).string();
  ASSERT_EQ(create("near.pcm").exit_code, 0);
  const auto enrol = [&](const std::string& name) {
    const Outcome outcome = protocom(folder_->path(), {"enrol", "near.pcm", image, "--class", name});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(enrol("Gray_Catbird"), Not(HasSubstr("did you mean")));
  EXPECT_THAT(enrol("Gray_Catbird"), Not(HasSubstr("did you mean"))) << "it is the same";
  for (const char* name : {"gray catbird", "Gray_catbrid", "Grey-Catbird"})
    EXPECT_THAT(enrol(name), HasSubstr("'" + std::string(name) + "' is a new class; did you mean 'Gray_Catbird'?"));
  for (const char* name : {"Gray_Jay", "Site 1", "Site 2"}) EXPECT_THAT(enrol(name), Not(HasSubstr("did you mean")));
}

TEST_F(Recognizers, CountTheImagesThatAreNewAndThoseThatWereThereBesideThem) {
  const std::vector<std::string> files = images_by_class().begin()->second;
  write_text(*folder_ / "odd/QQ/a.jpg", read_text(out("images") / files[0]));
  write_text(*folder_ / "odd/QQ/b.jpg", read_text(out("images") / files[1]));
  write_text(*folder_ / "odd/QQ/cut.jpg", read_text(out("images") / files[2]).substr(0, 200));
  ASSERT_EQ(create("odd.pcm").exit_code, 0);
  const Outcome first = protocom(folder_->path(), {"enrol", "odd.pcm", "odd/QQ/a.jpg", "--class", "QQ"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, Not(HasSubstr("there already")));
  const Outcome both = protocom(folder_->path(), {"enrol", "odd.pcm", "--folder", "odd"});
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_THAT(both.out, HasSubstr("added  there already  total"));
  EXPECT_THAT(both.err, HasSubstr("1 of the images could not be read; images enrolled: 1, there already: 1"));
  EXPECT_EQ(protocom(folder_->path(), {"undo", "odd.pcm"}).out,
            "undone: enrol 1 image of 'QQ' (1 more was there already)\nprotocom redo odd.pcm repeats it\n"
            "the next undo reverts: enrol 1 image of 'QQ'\n");
}

TEST_F(Recognizers, ShowTheAttributesOfAClassInWords) {
  const std::string name = base_class_of(read_text(out("images/split.csv")));
  const std::string attributes = read_text(out("images/attributes.csv"));
  std::string named = "class,attribute\n";
  for (const auto& entry : images_by_class()) {
    for (const std::string& one : cells_beside(attributes, entry.first)) named += entry.first + ",the_" + one + "\n";
  }
  write_text(*folder_ / "named.csv", named);
  const auto run = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = protocom(folder_->path(), arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  run({"knowledge", "table", "--csv", "named.csv", "--split", out("images/split.csv").string(), "--out", "named.npz"});
  run({"fit", "--features", out("features.npz").string(), "--knowledge", "named.npz", "--knowledge-use", "always",
       "--out", "named-plda.npz"});
  ASSERT_EQ(create("named.pcm", {"--fitted", "named-plda.npz", "--knowledge", "named.npz"}, {"backbone"}).exit_code, 0);
  run({"enrol", "named.pcm", "--class", name});
  const std::string first = cells_beside(attributes, name).front();
  EXPECT_THAT(run({"classes", "show", "named.pcm", name}), AllOf(HasSubstr("the " + first), Not(HasSubstr("the_"))));
  EXPECT_THAT(run({"classes", "show", "named.pcm", name, "--json"}), HasSubstr("\"the_" + first + "\""));
}

TEST_F(Recognizers, ImagesMayFollowTheAttributesAndOneMayBePipedIn) {
  const fs::path one = out("images") / first_image();
  const std::string attributes = read_text(out("images/attributes.csv"));
  const size_t comma = attributes.find(',', attributes.find('\n'));
  const std::string attribute = attributes.substr(comma + 1, attributes.find('\n', comma) - comma - 1);
  ASSERT_EQ(create("piped.pcm").exit_code, 0);
  const Outcome enrolled = protocom(
      folder_->path(), {"enrol", "piped.pcm", "--class", "new", "--attributes", " " + attribute + " ", one.string()});
  EXPECT_EQ(enrolled.exit_code, 0) << enrolled.err;
  const Outcome piped = protocom(folder_->path(), {"classify", "piped.pcm", "-", "--format", "csv"}, one);
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_THAT(piped.out, HasSubstr("\n-,"));
  write_text(folder_->path() / "names.txt", one.string() + "\n");
  EXPECT_THAT(
      protocom(folder_->path(), {"classify", "piped.pcm", "-", "--format", "csv"}, folder_->path() / "names.txt").out,
      HasSubstr("\n" + one.string() + ","));
  const Outcome listed = protocom(folder_->path(), {"enrol", "piped.pcm", "-", "--class", "other"}, one);
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(protocom(folder_->path(), {"examples", "list", "piped.pcm", "--class", "other"}).out,
              HasSubstr("the standard input"));
  const Outcome refused = protocom(folder_->path(), {"sort", "piped.pcm", "-", "--out", "sorted-pipe"}, one);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("expected names of images"));
  write_text(folder_->path() / "print0.txt", one.string() + '\0' + one.string() + '\0');
  const Outcome print0 =
      protocom(folder_->path(), {"classify", "piped.pcm", "-", "--format", "json"}, folder_->path() / "print0.txt");
  EXPECT_EQ(print0.exit_code, 0) << print0.err;
  EXPECT_EQ(json_lines(print0.out).size(), 2u);
  write_text(folder_->path() / "empty.txt", "");
  for (const char* command : {"classify", "enrol"}) {
    const Outcome empty = protocom(folder_->path(), {command, "piped.pcm", "-"}, folder_->path() / "empty.txt");
    EXPECT_EQ(empty.exit_code, 1);
    EXPECT_THAT(empty.err, HasSubstr("the standard input is empty"));
  }
}

TEST_F(Recognizers, NamesOnTheStandardInputMayEndAsWindowsEndsLines) {
  const std::vector<std::string> images = create_with_classes("windows.pcm", 2);
  write_text(folder_->path() / "windows.txt", images[0] + "\r\n\r\n" + images[1] + "\r\n");
  const Outcome outcome =
      protocom(folder_->path(), {"classify", "windows.pcm", "-", "--format", "json"}, folder_->path() / "windows.txt");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json_lines(outcome.out).size(), 2u);
}

// Reported once, however many there are: a camera writes the same preview size into every photo.
TEST_F(Recognizers, WarnOnceOfRawPhotosWithSmallPreviews) {
  create_with_classes("raw.pcm", 2);
  const auto put = [&](const std::string& name, int64_t side) {
    RawPhotoSpec spec;
    spec.previews = {encode_jpeg({side, side, std::vector<uint8_t>(static_cast<size_t>(3 * side * side), 90)}, 90)};
    write_text(*folder_ / name, make_dng(spec));
  };
  put("small/1.dng", 8);
  put("small/2.dng", 8);
  put("large/1.dng", 512);
  write_text(*folder_ / "large/1.JPG", read_text(out("images") / first_image()));
  put("large/2.dng", 512);
  const Outcome small = protocom(folder_->path(), {"classify", "raw.pcm", "small", "--format", "json"});
  EXPECT_EQ(json_lines(small.out).size(), 2u);
  const std::string warning = "a camera's raw photo has a preview of only 8 x 8 pixels";
  EXPECT_THAT(small.err, HasSubstr(warning));
  EXPECT_EQ(small.err.find(warning), small.err.rfind(warning));
  const Outcome large = protocom(folder_->path(), {"classify", "raw.pcm", "large", "--format", "json"});
  EXPECT_EQ(json_lines(large.out).size(), 2u) << large.out;
  EXPECT_THAT(large.err, Not(HasSubstr("preview")));
  EXPECT_THAT(large.err, HasSubstr("1 file is ignored: 1 raw photo beside its JPEG or HEIC"));
}

TEST_F(Recognizers, ReportFoldersAndOthersThatCannotBeReadAndGoOn) {
  create_with_classes("report.pcm", 4);
  const auto by_class = images_by_class();
  const auto image = [&](size_t k, size_t i) {
    return (out("images") / std::next(by_class.begin(), static_cast<int64_t>(k))->second[i]).string();
  };
  fs::create_directories(*folder_ / "nothing");
  const Outcome enrolled =
      protocom(folder_->path(), {"enrol", "report.pcm", "nothing", image(0, 1), "--class", by_class.begin()->first});
  EXPECT_EQ(enrolled.exit_code, 1);
  EXPECT_THAT(enrolled.err, HasSubstr("folders without readable images: 1; images enrolled: 1"));
  EXPECT_THAT(enrolled.err, ::testing::Not(HasSubstr("of the images could not be read")));
  write_text(*folder_ / "others/cut.jpg", "\xff\xd8\xff");
  for (size_t i = 0; i < 4; ++i)
    write_text(*folder_ / "others" / (std::to_string(i) + ".jpg"), read_text(image(8 + i, 0)));
  const Outcome calibrated =
      protocom(folder_->path(), {"calibrate", "report.pcm", "--others", "others", "gone", "--false-accept", "0.3"});
  EXPECT_EQ(calibrated.exit_code, 1);
  EXPECT_THAT(calibrated.err, HasSubstr("cut.jpg"));
  EXPECT_THAT(calibrated.err, HasSubstr("2 of 6 images could not be read"));
  EXPECT_THAT(protocom(folder_->path(), {"recognizer", "info", "report.pcm"}).out, HasSubstr("4 others"));
  const std::string replaced = "this replaces the threshold that was set with 4 photos of other things";
  const Outcome replacing = protocom(folder_->path(), {"calibrate", "report.pcm", "--similar"});
  EXPECT_EQ(replacing.exit_code, 0) << replacing.err;
  EXPECT_THAT(replacing.err, HasSubstr(replaced));
  EXPECT_THAT(protocom(folder_->path(), {"calibrate", "report.pcm", "--similar"}).err, Not(HasSubstr(replaced)));
}

}  // namespace
}  // namespace protocom::testing
