#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "cli/recognizers.h"
#include "support/planted_journal.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Recognizers, EnrolledClassesAreRecognised) {
  const fs::path images = folder_->path() / "out/images";
  const std::vector<std::string> novel = novel_classes();
  ASSERT_EQ(novel.size(), 5u);
  const Outcome made = create("creatures.pcm");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  for (const std::string& name : novel) {
    std::vector<std::string> arguments = {"enrol", "creatures.pcm", "--class", name};
    const std::vector<std::string> files = files_below(images / name);
    for (size_t i = 0; i < 3; ++i) arguments.push_back((images / name / files.at(i)).string());
    const Outcome enrolled = protocom(folder_->path(), arguments);
    ASSERT_EQ(enrolled.exit_code, 0) << enrolled.err;
    EXPECT_THAT(enrolled.out, HasSubstr(name));
  }
  EXPECT_THAT(protocom(folder_->path(), {"show", "creatures.pcm"}).out,
              AllOf(HasSubstr("recognizer, format 1"), HasSubstr("[15,")));
  for (const char* mode : {"inductive", "transductive"}) {
    std::vector<std::string> arguments = {
        "classify", "creatures.pcm", (images / novel[0]).string(), "--format", "json", "--top", "5"};
    if (std::string(mode) == "transductive") arguments.emplace_back("--batch-together");
    const Outcome classified = protocom(folder_->path(), arguments);
    ASSERT_EQ(classified.exit_code, 0) << classified.err;
    const std::vector<json> answers = json_lines(classified.out);
    ASSERT_EQ(answers.size(), 20u);
    for (const json& answer : answers) {
      EXPECT_EQ(answer.at("mode"), mode);
      double total = 0, before = 1;
      for (const json& one : answer.at("ranking")) {
        const double probability = one.at("probability");
        EXPECT_LE(probability, before) << "not ranked";
        before = probability;
        total += probability;
      }
      EXPECT_NEAR(total, 1.0, 1e-4) << "all five classes together";
      EXPECT_EQ(answer.at("nearest").size(), 3u);
    }
  }
}

TEST_F(Recognizers, AFittedMethodNeedsNoTrainingToMeasureEnrolAndClassify) {
  const Outcome fitted = protocom(folder_->path(), {"fit", "--features", out("features.npz").string(), "--knowledge",
                                                    out("knowledge.npz").string(), "--out", "plda.npz", "--quiet"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  const std::string explained = "Knowledge explains ";
  EXPECT_THAT(fitted.out, HasSubstr(explained)) << "without --method it is plda";
  EXPECT_THAT(protocom(folder_->path(), {"show", "plda.npz"}).out, HasSubstr("findings\n  " + explained));
  const Outcome measured =
      protocom(folder_->path(), {"evaluate", "--features", out("features.npz").string(), "--knowledge",
                                 out("knowledge.npz").string(), "--fitted", "plda.npz", "--episodes", "10", "--n-query",
                                 "5", "--k-shot", "1", "--json", "measured.json"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const json results = json::parse(read_text(*folder_ / "measured.json"));
  std::vector<std::string> methods;
  for (const json& result : results.at("results")) methods.push_back(result.at("method"));
  EXPECT_EQ(methods, (std::vector<std::string>{"plda", "plda:prior=none", "plda-vb", "mean"}));
  EXPECT_THAT(results.at("findings").dump(), HasSubstr(explained));
  const Outcome reported = protocom(folder_->path(), {"report", "measured.json", "--out", "measured.html"});
  EXPECT_THAT(reported.out, HasSubstr("5-way 1-shot: plda (inductive) "));
  EXPECT_THAT(read_text(*folder_ / "measured.html"), HasSubstr("<p>" + explained));
  std::map<std::string, std::vector<std::string>> by_class;
  for (const std::string& file : files_below(out("images"))) {
    if (file.find('/') != std::string::npos)
      by_class[file.substr(0, file.find('/'))].push_back((out("images") / file).string());
  }
  const Outcome made = create("fitted.pcm", {"--fitted", "plda.npz"}, kFittedParts);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(protocom(folder_->path(), {"recognizer", "info", "fitted.pcm"}).out, HasSubstr(explained));
  const auto first = by_class.begin();
  for (const auto& entry : {*first, *std::next(first)}) {
    const Outcome enrolled =
        protocom(folder_->path(), {"enrol", "fitted.pcm", entry.second[0], "--class", entry.first});
    ASSERT_EQ(enrolled.exit_code, 0) << enrolled.err;
  }
  for (const auto& [flag, mode] : {std::pair{"", "inductive"}, std::pair{"--batch-together", "transductive"}}) {
    std::vector<std::string> arguments = {"classify", "fitted.pcm", first->second[1], first->second[2], "gone.jpg",
                                          "--format", "json"};
    if (*flag != '\0') arguments.emplace_back(flag);
    const Outcome classified = protocom(folder_->path(), arguments);
    EXPECT_EQ(classified.exit_code, 1) << "one argument is not there";
    EXPECT_THAT(classified.err, HasSubstr("gone.jpg: no such file"));
    const std::vector<json> answers = json_lines(classified.out);
    ASSERT_EQ(answers.size(), 2u) << "the others are answered";
    EXPECT_EQ(answers[0].at("mode"), mode);
  }
}

TEST_F(Recognizers, TakeFeaturesInPlaceOfImages) {
  const std::string features = out("features.npz").string();
  const Outcome made = create("features.pcm");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Outcome all = protocom(folder_->path(), {"enrol", "features.pcm", "--features", features});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(images_in("features.pcm"), 16 * 20);
  EXPECT_EQ(json_lines(protocom(folder_->path(), {"classes", "list", "features.pcm", "--json"}).out).size(), 16u);
  const Outcome one = protocom(folder_->path(), {"enrol", "features.pcm", "--features", features, "--class", "any"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(images_in("features.pcm"), 2 * 16 * 20);
  const std::string image = (out("images") / first_image()).string();
  EXPECT_EQ(protocom(folder_->path(), {"enrol", "features.pcm", image, "--features", features}).exit_code, 2);
}

TEST_F(Recognizers, ManyEnrolmentsAtOnceAllCount) {
  ASSERT_EQ(create("together.pcm").exit_code, 0);
  std::vector<std::unique_ptr<Program>> programs;
  for (const auto& [name, files] : images_by_class()) {
    if (programs.size() == 8) break;
    programs.push_back(std::make_unique<Program>(
        folder_->path(),
        std::vector<std::string>{"enrol", "together.pcm", (out("images") / files[0]).string(),
                                 (out("images") / files[1]).string(), "--class", name, "--threads", "1"}));
  }
  for (const auto& program : programs) {
    const Outcome outcome = program->wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  EXPECT_EQ(images_in("together.pcm"), 16);
  EXPECT_EQ(protocom(folder_->path(), {"recognizer", "check", "together.pcm"}).exit_code, 0);
}

TEST_F(Recognizers, ARecognizerHoldsWhatWasAcknowledgedWheneverItsProgramIsKilled) {
  ASSERT_EQ(create("killed.pcm").exit_code, 0);
  std::vector<std::string> files;
  for (const auto& [name, own] : images_by_class()) files.insert(files.end(), own.begin(), own.end());
  std::mt19937 random(3);
  int64_t acknowledged = 0, sure = 0;
  std::chrono::steady_clock::duration whole{};  // duration of a change that is not killed
  for (size_t i = 0; i < 12; ++i) {
    const bool killed = i % 4 != 0;
    const auto begun = std::chrono::steady_clock::now();
    Program program(folder_->path(), {"enrol", "killed.pcm", (out("images") / files.at(i)).string(), "--class", "any",
                                      "--threads", "1", "--quiet"});
    if (killed) {
      std::this_thread::sleep_for(whole * static_cast<int>(random() % 110) / 100);
      program.kill();
    }
    const Outcome outcome = program.wait();
    if (!killed) {
      whole = std::chrono::steady_clock::now() - begun;
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    }
    acknowledged += outcome.exit_code == 0 ? 1 : 0;
    ASSERT_EQ(protocom(folder_->path(), {"recognizer", "recover", "killed.pcm"}).exit_code, 0);
    const int64_t now = images_in("killed.pcm");
    EXPECT_GE(now, acknowledged) << "an acknowledged image is lost";
    EXPECT_LE(now - sure, 1);
    sure = now;
  }
  EXPECT_EQ(protocom(folder_->path(), {"recognizer", "check", "killed.pcm"}).exit_code, 0);
}

TEST_F(Recognizers, AJournalPlantedBesideARecognizerDeletesNothing) {
  ASSERT_EQ(create("planted.pcm").exit_code, 0);
  const fs::path recognizer = *folder_ / "planted.pcm", thesis = *folder_ / "thesis.txt";
  const std::string image = (out("images") / images_by_class().begin()->second[0]).string();
  std::ofstream(thesis) << "ten years of work";
  const std::string before = read_text(recognizer);
  std::ofstream(recognizer.string() + "-journal", std::ios::binary)
      << journal_naming(thesis.string(), static_cast<uint32_t>(before.size() / 4096));
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"classify", "planted.pcm", image},
                                             {"recognizer", "info", "planted.pcm"},
                                             {"recognizer", "check", "planted.pcm"},
                                             {"recognizer", "recover", "planted.pcm"},
                                             {"classes", "list", "planted.pcm"},
                                             {"undo", "planted.pcm", "--list"},
                                             {"enrol", "planted.pcm", image, "--class", "any"}}) {
    const Outcome outcome = protocom(folder_->path(), command);
    EXPECT_EQ(outcome.exit_code, 1) << command[0];
    EXPECT_THAT(outcome.err, HasSubstr("planted.pcm-journal beside it names another file")) << command[0];
    ASSERT_TRUE(fs::exists(thesis)) << command[0];
    EXPECT_TRUE(read_text(recognizer) == before) << command[0];
  }
}

TEST_F(Recognizers, ARecognizerIsListedCorrectedCalibratedAndMoved) {
  const auto by_class = images_by_class();
  fs::create_directories(*folder_ / "few");
  for (const auto& [name, files] : by_class) {
    for (size_t i = 0; i < 3; ++i)
      write_text(*folder_ / "few" / name / fs::path(files[i]).filename(), read_text(out("images") / files[i]));
  }
  const Outcome made = create("all.pcm", {"--images", "few", "--attributes", out("images/attributes.csv").string()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto run = [&](const std::vector<std::string>& arguments) { return protocom(folder_->path(), arguments); };
  const std::string first = by_class.begin()->first;
  const auto classes = json_lines(run({"classes", "list", "all.pcm", "--json"}).out);
  ASSERT_EQ(classes.size(), by_class.size());
  EXPECT_EQ(classes[0].at("images"), 3);
  EXPECT_FALSE(classes[0].at("attributes").empty());
  EXPECT_EQ(run({"classes", "rename", "all.pcm", first, "renamed"}).exit_code, 0);
  EXPECT_THAT(run({"classes", "show", "all.pcm", "renamed"}).out, HasSubstr("attributes"));
  const Outcome unknown = run({"classes", "show", "all.pcm", "renamedd"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'renamed'?"));
  EXPECT_THAT(run({"undo", "all.pcm", "--list"}).out, HasSubstr("1  rename class '" + first + "'"));
  EXPECT_THAT(run({"undo", "all.pcm"}).out, HasSubstr("rename class '" + first + "'"));
  EXPECT_EQ(run({"classes", "show", "all.pcm", "renamed"}).exit_code, 1);
  EXPECT_THAT(run({"redo", "all.pcm", "--list"}).out, HasSubstr("1  rename class '" + first + "'"));
  EXPECT_EQ(run({"redo", "all.pcm"}).out, "redone: rename class '" + first + "' to 'renamed'\n");
  EXPECT_EQ(run({"classes", "show", "all.pcm", "renamed"}).exit_code, 0);
  EXPECT_THAT(run({"redo", "all.pcm"}).err, HasSubstr("there is nothing to redo"));
  EXPECT_EQ(run({"undo", "all.pcm"}).exit_code, 0);
  const json example = json_lines(run({"examples", "list", "all.pcm", "--class", first, "--json"}).out).at(0);
  const std::string number = example.at("example").dump();
  const std::string last = by_class.rbegin()->first;
  EXPECT_EQ(run({"examples", "move", "all.pcm", number, "--class", last}).out,
            "moved 1 image to '" + last + "' (protocom undo all.pcm reverts it)\n");
  EXPECT_THAT(run({"examples", "list", "all.pcm", "--class", last}).out, HasSubstr(example.at("source")));
  EXPECT_THAT(run({"examples", "move", "all.pcm", number, "--class", last}).err, HasSubstr("no example " + number));
  EXPECT_EQ(run({"undo", "all.pcm"}).exit_code, 0);
  EXPECT_EQ(run({"examples", "confirm", "all.pcm", number}).out,
            "confirmed 1 image: recognizer check no longer lists it (protocom undo all.pcm reverts it)\n");
  const auto first_listed = [&] {
    return json_lines(run({"examples", "list", "all.pcm", "--class", first, "--json"}).out)[0];
  };
  EXPECT_EQ(first_listed().at("confirmed"), true);
  EXPECT_EQ(run({"undo", "all.pcm"}).exit_code, 0);
  EXPECT_EQ(first_listed().at("confirmed"), false);
  EXPECT_EQ(run({"examples", "remove", "all.pcm", number}).out,
            "removed 1 image (protocom undo all.pcm restores what was removed)\n");
  EXPECT_EQ(images_in("all.pcm"), static_cast<int64_t>(3 * by_class.size() - 1));
  const std::string second = by_class.rbegin()->first;
  EXPECT_EQ(
      run({"classes", "merge", "all.pcm", second, first}).out,
      "'" + second + "' was merged into '" + first + "', with 3 more images (protocom undo all.pcm reverts it)\n");
  EXPECT_EQ(run({"undo", "all.pcm"}).exit_code, 0);
  EXPECT_EQ(run({"classes", "remove", "all.pcm", first}).exit_code, 0);
  EXPECT_EQ(run({"undo", "all.pcm"}).exit_code, 0);
  EXPECT_EQ(run({"undo", "all.pcm"}).exit_code, 0);
  EXPECT_EQ(run({"redo", "all.pcm"}).out,
            "redone: remove 1 image\nthe next redo repeats: remove class '" + first + "'\n");
  EXPECT_EQ(images_in("all.pcm"), static_cast<int64_t>(3 * by_class.size() - 1));
  EXPECT_EQ(run({"undo", "all.pcm"}).exit_code, 0);
  EXPECT_EQ(images_in("all.pcm"), static_cast<int64_t>(3 * by_class.size()));

  const Outcome calibrated = run({"calibrate", "all.pcm", "--false-accept", "0.1"});
  ASSERT_EQ(calibrated.exit_code, 0) << calibrated.err;
  EXPECT_THAT(calibrated.out, HasSubstr(" of 100 of similar kinds pass"));
  EXPECT_THAT(calibrated.out, Not(HasSubstr("factor of the logits")));
  EXPECT_THAT(run({"recognizer", "info", "all.pcm"}).out, HasSubstr("10.0 % of others pass"));
  const json answer =
      json_lines(
          run({"classify", "all.pcm", (out("images") / by_class.begin()->second[5]).string(), "--format", "json"}).out)
          .at(0);
  EXPECT_TRUE(answer.at("none_of_these").is_boolean());
  EXPECT_TRUE(answer.at("familiarity").is_number());
  EXPECT_EQ(answer.at("none_of_these").get<bool>(), answer.at("none").get<double>() >= 0.5);
  const Outcome own = run({"--verbose", "calibrate", "all.pcm"});
  EXPECT_THAT(own.out, HasSubstr("factor of the logits"));
  EXPECT_THAT(own.out, HasSubstr("of 100 of your own photos are refused; "));
  EXPECT_THAT(own.out, HasSubstr("--similar refuses similar kinds too"));
  const Outcome balanced = run({"calibrate", "all.pcm", "--similar"});
  EXPECT_THAT(balanced.out, HasSubstr("This threshold balances both rates"));
  EXPECT_NE(run({"calibrate", "all.pcm", "--similar", "--false-accept", "0.1"}).exit_code, 0);

  ASSERT_EQ(run({"recognizer", "export", "all.pcm", "--out", "exported"}).exit_code, 0);
  const Outcome imported = run({"recognizer", "import", "exported", "--out", "back.pcm"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(images_in("back.pcm"), images_in("all.pcm"));
  EXPECT_EQ(run({"recognizer", "compact", "back.pcm"}).exit_code, 0);
  EXPECT_EQ(run({"recognizer", "check", "back.pcm"}).exit_code, 0);
}

}  // namespace
}  // namespace protocom::testing
