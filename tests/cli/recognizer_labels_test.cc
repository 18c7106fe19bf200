// Commands about labels: photos to label next, photos that look misplaced, sets of classes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/recognizers.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A recognizer of four photos of each of three classes, and further photos.
class LabelledRecognizers : public Recognizers {
 protected:
  static void SetUpTestSuite() {
    Recognizers::SetUpTestSuite();
    if (fs::exists(at("labels.pcm"))) return;
    size_t number = 0;
    for (const auto& [name, images] : images_by_class()) {
      if (++number > 3) break;
      for (size_t i = 0; i < 8; ++i) put(images[i], i < 4 ? at("labels") / name : at("to-label"));
      put(images[0], at("to-label"));
    }
    const Outcome made = protocom(folder_->path(), {"recognizer", "create", "labels.pcm", "--images", "labels",
                                                    "--backbone", out("backbone.npz").string()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  static fs::path at(const std::string& name) { return folder_->path() / name; }
  static void put(const std::string& image, const fs::path& folder) {
    fs::create_directories(folder);
    std::string name = image;
    std::replace(name.begin(), name.end(), '/', '-');
    fs::copy_file(out("images") / image, folder / name);
  }
  static Outcome run(const std::vector<std::string>& arguments) { return protocom(folder_->path(), arguments); }
};

TEST_F(LabelledRecognizers, ExplainAnswersByTheirPartsAsMapAndJson) {
  const std::string photo = fs::directory_iterator(at("to-label"))->path().string();
  const Outcome printed = run({"classify", "labels.pcm", photo, "--explain"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(std::count(printed.out.begin(), printed.out.end(), '\n'), 8) << "the answer, and seven rows";
  EXPECT_THAT(printed.out, HasSubstr("██"));
  const json line = json_lines(run({"classify", "labels.pcm", photo, "--explain", "--format", "json"}).out).at(0);
  EXPECT_EQ(line.at("image"), photo);
  EXPECT_EQ(line.at("effects").size(), 7u);
  const Outcome asked = run({"classify", "labels.pcm", photo, "--format", "json"});
  EXPECT_EQ(line.at("class"), json_lines(asked.out).at(0).at("ranking")[0].at("class"));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--format", "csv"},
                                                {"--out", "a.jsonl"},
                                                {"--series", "time"},
                                                {"--format", "xmp"},
                                                {"--top", "2"},
                                                {"--coverage", "0.9"}}) {
    std::vector<std::string> all = {"classify", "labels.pcm", photo, "--explain"};
    all.insert(all.end(), wrong.begin(), wrong.end());
    const Outcome refused = run(all);
    EXPECT_EQ(refused.exit_code, 2) << wrong.front();
    EXPECT_THAT(refused.err, HasSubstr("--explain")) << wrong.back();
  }
}

TEST_F(LabelledRecognizers, RefuseSetsOfClassesWhereAFormatHasNoPlaceForThem) {
  for (const char* format : {"timelapse", "xmp"}) {
    const Outcome refused = run({"classify", "labels.pcm", "to-label", "--coverage", "0.9", "--format", format});
    EXPECT_EQ(refused.exit_code, 2) << format;
    EXPECT_THAT(refused.err, HasSubstr("no place for sets of classes"));
  }
}

TEST_F(LabelledRecognizers, SuggestWhatToLabelNextInFourFormats) {
  const Outcome printed = run({"suggest", "labels.pcm", "to-label", "--count", "5", "--format", "json"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const json found = json::parse(printed.out);
  ASSERT_EQ(found.at("images").size(), 5u);
  EXPECT_EQ(found.at("looked_at"), 12);
  EXPECT_EQ(found.at("already_enrolled"), 3);
  const std::string first = found.at("images")[0].at("image");
  const Outcome asked = run({"classify", "labels.pcm", first, "--format", "json"});
  EXPECT_EQ(json_lines(asked.out).at(0).at("ranking")[0].at("class"), found.at("images")[0].at("class"));
  const Outcome paths = run({"suggest", "labels.pcm", "to-label", "--count", "5", "--format", "paths"});
  EXPECT_EQ(paths.out.substr(0, paths.out.find('\n')), first);
  EXPECT_EQ(std::count(paths.out.begin(), paths.out.end(), '\n'), 5);
  const Outcome csv = run({"suggest", "labels.pcm", "to-label", "--format", "csv"});
  EXPECT_THAT(csv.out, HasSubstr("image,class,probability,runner_up,doubt,share\n"));
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 13) << "twenty were requested, there are twelve";
  EXPECT_THAT(run({"suggest", "labels.pcm", "to-label"}).out, AllOf(HasSubstr("photo"), HasSubstr("runner-up")));
  const Outcome none = run({"suggest", "labels.pcm", "labels"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("all 12 images are enrolled"));
}

TEST_F(LabelledRecognizers, CheckNamesPhotosThatLieInTwoClassesAndSaysHowClassesAreTold) {
  const Outcome usual = run({"recognizer", "check", "labels.pcm"});
  ASSERT_EQ(usual.exit_code, 0) << usual.err;
  EXPECT_THAT(usual.out, AllOf(HasSubstr("no faults found"), Not(HasSubstr("the same photo"))));
  fs::copy_file(at("labels.pcm"), at("twice.pcm"));
  const std::string other = images_by_class().begin()->first;
  const std::string photo = fs::directory_iterator(at("labels") / other)->path();
  const std::string last = std::next(images_by_class().begin(), 2)->first;
  const Outcome enrolled = run({"enrol", "twice.pcm", photo, "--class", last});
  ASSERT_EQ(enrolled.exit_code, 0) << enrolled.err;
  EXPECT_THAT(enrolled.out, HasSubstr("The same photo is in '" + other + "'"));
  const Outcome checked = run({"recognizer", "check", "twice.pcm", "--json"});
  const json found = json::parse(checked.out);
  EXPECT_EQ(found.at("asked"), 13);
  EXPECT_EQ(found.at("shared")[0].at("twin_class"), last);
  EXPECT_EQ(found.at("classes").size(), 3u);
  EXPECT_GT(found.at("false_rate"), 0);
}

TEST_F(LabelledRecognizers, AnswerWithSetsOfClasses) {
  const std::string photo = fs::directory_iterator(at("to-label"))->path();
  const Outcome printed = run({"classify", "labels.pcm", photo, "--coverage", "0.9", "--format", "json"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const json answer = json_lines(printed.out).at(0);
  EXPECT_EQ(answer.at("set")[0], answer.at("ranking")[0].at("class"));
  EXPECT_THAT(run({"classify", "labels.pcm", photo, "--coverage", "0.9"}).out, HasSubstr("one of"));
  EXPECT_THAT(run({"classify", "labels.pcm", photo, "--coverage", "0.9", "--format", "csv"}).out,
              HasSubstr("nearest,set\n"));
  EXPECT_THAT(run({"classify", "labels.pcm", photo, "--format", "csv"}).out, Not(HasSubstr(",set\n")));
  const Outcome refused = run({"classify", "labels.pcm", photo, "--coverage", "0.95"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("needs 19 photos for leave-one-out, found 12"));
}

TEST_F(LabelledRecognizers, AnswerWithTheGroupOfClassesWhereTheFirstIsUnsure) {
  const char* kinds[] = {"birds;robin", "birds;wren", "birds;tit"};
  size_t number = 0;
  fs::create_directories(at("grouped"));
  for (const auto& folder : fs::directory_iterator(at("labels")))
    fs::copy(folder.path(), at("grouped") / kinds[number++], fs::copy_options::recursive);
  const Outcome made =
      run({"recognizer", "create", "grouped.pcm", "--images", "grouped", "--backbone", out("backbone.npz").string()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string photo = fs::directory_iterator(at("to-label"))->path();
  const json plain = json_lines(run({"classify", "grouped.pcm", photo, "--format", "json"}).out).at(0);
  EXPECT_FALSE(plain.contains("group"));
  const double first = plain.at("ranking")[0].at("probability");
  const double all = 1 - (plain.at("none").is_null() ? 0.0 : plain.at("none").get<double>());
  ASSERT_LT(first, all);
  const std::string between = std::to_string((first + all) / 2);
  const json rolled =
      json_lines(run({"classify", "grouped.pcm", photo, "--roll-up", between, "--format", "json"}).out).at(0);
  EXPECT_EQ(rolled.at("group").at("name"), "birds");
  EXPECT_NEAR(rolled.at("group").at("probability").get<double>(), all, 1e-6);
  EXPECT_THAT(run({"classify", "grouped.pcm", photo, "--roll-up", between}).out, HasSubstr(" birds "));
  EXPECT_THAT(run({"classify", "grouped.pcm", photo, "--roll-up", between, "--format", "csv"}).out,
              AllOf(HasSubstr("nearest,group,group_probability\n"), HasSubstr(",birds,")));
  EXPECT_THAT(run({"classify", "grouped.pcm", photo, "--roll-up", between, "--format", "csv-long"}).out,
              HasSubstr(",birds,"));
  run({"classify", "grouped.pcm", photo, "--format", "xmp"});
  const std::string kind = plain.at("ranking")[0].at("class").get<std::string>().substr(std::string("birds;").size());
  EXPECT_THAT(read_file(photo + ".xmp"), AllOf(HasSubstr("<rdf:li>birds</rdf:li><rdf:li>" + kind + "</rdf:li>"),
                                               HasSubstr("<rdf:li>birds|" + kind + "</rdf:li>")));
  fs::remove(photo + ".xmp");
  EXPECT_NE(run({"classify", "grouped.pcm", photo, "--roll-up", "1"}).exit_code, 0);
}

TEST_F(LabelledRecognizers, AnswerWithTheGroupsOfATableInEveryFormat) {
  std::string
      table = "Class;Taxonomy\r\n",
      boxes = R"({"images": [{"file": "a.png", "detections": [)"
              R"({"category": "1", "conf": 0.9, "bbox": [0, 0, 1, 1]}]}], "detection_categories": {"1": "animal"}})";
  for (const auto& folder : fs::directory_iterator(at("labels")))
    table += folder.path().filename().string() + ";\"things > shapes\"\r\n";
  write_file(at("groups.csv"), table);
  fs::create_directories(at("traps"));
  fs::copy_file(fs::directory_iterator(at("to-label"))->path(), at("traps/a.png"),
                fs::copy_options::overwrite_existing);
  write_file(at("traps.json"), boxes);
  const json plain = json_lines(run({"classify", "labels.pcm", "traps/a.png", "--format", "json"}).out).at(0);
  const double first = plain.at("ranking")[0].at("probability");
  const double all = 1 - (plain.at("none").is_null() ? 0.0 : plain.at("none").get<double>());
  const std::string between = std::to_string((first + all) / 2);
  const auto rolled = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"classify", "labels.pcm", "traps",     "--roll-up",
                                      between,    "--groups",   "groups.csv"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_EQ(json_lines(rolled({"--format", "json"})).at(0).at("group").at("name"), "things/shapes");
  EXPECT_THAT(rolled({"--format", "csv"}), HasSubstr(",things/shapes,"));
  EXPECT_THAT(rolled({"--format", "timelapse"}), HasSubstr("a.png,,things/shapes,"));
  rolled({"--format", "xmp"});
  EXPECT_THAT(read_file(at("traps/a.png.xmp")), HasSubstr("<rdf:li>things|shapes</rdf:li>"));
  fs::remove(at("traps/a.png.xmp"));
  run({"classify", "labels.pcm", "traps", "--roll-up", "0.001", "--groups", "groups.csv", "--format", "xmp"});
  const std::string best = plain.at("ranking")[0].at("class");
  EXPECT_THAT(read_file(at("traps/a.png.xmp")), HasSubstr("<rdf:li>things|shapes|" + best + "</rdf:li>"))
      << "an answer that is not rolled up";
  const json found = json::parse(rolled({"--boxes", "traps.json", "--format", "megadetector"}));
  const json answer = found.at("images")[0].at("detections")[0].at("classifications")[0];
  EXPECT_EQ(found.at("classification_categories").at(answer[0].get<std::string>()), "things/shapes");
  EXPECT_NEAR(answer[1].get<double>(), all, 0.01);
  const Outcome alone = run({"classify", "labels.pcm", "traps", "--groups", "groups.csv"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--groups requires --roll-up"));
}

}  // namespace
}  // namespace protocom::testing
