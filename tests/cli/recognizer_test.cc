#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "cli/pipeline.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Recognizers : public Pipeline {};

/// "--backbone", its file, ... of the run.
std::vector<std::string> with_parts(std::vector<std::string> arguments, const fs::path& out,
                                    const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    arguments.push_back("--" + part);
    arguments.push_back((out / (part + ".npz")).string());
  }
  return arguments;
}

std::vector<std::string> novel_classes(const fs::path& images) {
  std::vector<std::string> novel;
  std::istringstream split(read_text(images / "split.csv"));
  for (std::string line; std::getline(split, line);) {
    if (line.find(",novel") != std::string::npos) novel.push_back(line.substr(0, line.find(',')));
  }
  return novel;
}

/// The objects of JSON lines.
std::vector<json> lines_of(const std::string& text) {
  std::vector<json> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
  return all;
}

TEST_F(Recognizers, EnrolledClassesAreRecognised) {
  const fs::path images = folder_->path() / "out/images";
  const std::vector<std::string> novel = novel_classes(images);
  ASSERT_EQ(novel.size(), 5u);
  const Outcome made = protocom(folder_->path(), with_parts({"recognizer", "create", "creatures.pcm"}, out(""),
                                                            {"backbone", "model", "knowledge"}));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  for (const std::string& name : novel) {
    std::vector<std::string> arguments = {"enrol", "creatures.pcm", "--class", name};
    const std::vector<std::string> files = files_below(images / name);
    for (size_t i = 0; i < 3; ++i) arguments.push_back((images / name / files.at(i)).string());
    const Outcome enrolled = protocom(folder_->path(), arguments);
    ASSERT_EQ(enrolled.exit_code, 0) << enrolled.err;
    EXPECT_THAT(enrolled.out, HasSubstr(name));
  }
  for (const char* mode : {"inductive", "transductive"}) {
    std::vector<std::string> arguments = {
        "classify", "creatures.pcm", (images / novel[0]).string(), "--format", "json", "--top", "5"};
    if (std::string(mode) == "transductive") arguments.emplace_back("--batch-together");
    const Outcome classified = protocom(folder_->path(), arguments);
    ASSERT_EQ(classified.exit_code, 0) << classified.err;
    const std::vector<json> answers = lines_of(classified.out);
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
  EXPECT_THAT(reported.out, HasSubstr(" to plda (inductive) in 5-way 1-shot tasks"));
  EXPECT_THAT(read_text(*folder_ / "measured.html"), HasSubstr("<p>" + explained));
  std::map<std::string, std::vector<std::string>> by_class;
  for (const std::string& file : files_below(out("images"))) {
    if (file.find('/') != std::string::npos)
      by_class[file.substr(0, file.find('/'))].push_back((out("images") / file).string());
  }
  const Outcome made = protocom(
      folder_->path(),
      with_parts({"recognizer", "create", "fitted.pcm", "--fitted", "plda.npz"}, out(""), {"backbone", "knowledge"}));
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
    const std::vector<json> answers = lines_of(classified.out);
    ASSERT_EQ(answers.size(), 2u) << "the others are answered";
    EXPECT_EQ(answers[0].at("mode"), mode);
  }
}

/// Images by their class, as paths below the folder.
std::map<std::string, std::vector<std::string>> images_by_class(const fs::path& images) {
  std::map<std::string, std::vector<std::string>> by_class;
  for (const std::string& file : files_below(images)) {
    if (file.find('/') != std::string::npos) by_class[file.substr(0, file.find('/'))].push_back(file);
  }
  return by_class;
}

/// The same episode three times: as a list for `evaluate` (episodes.json), its supports as a CSV for `enrol`
/// (supports.csv), its queries as names for `classify` (queries.txt). Returns how many queries there are.
int64_t write_episode(const fs::path& folder, const fs::path& images, const std::vector<std::string>& classes) {
  auto by_class = images_by_class(images);
  json episode = {{"classes", classes}, {"support", json::array()}, {"query", json::array()}};
  std::string supports = "class,image\n", queries;
  for (const std::string& name : classes) {
    const std::vector<std::string>& own = by_class.at(name);
    episode["support"].push_back({own[0], own[1]});
    episode["query"].push_back(std::vector<std::string>(own.begin() + 2, own.end()));
    for (size_t i = 0; i < 2; ++i) supports += name + "," + (images / own[i]).string() + "\n";
    for (size_t i = 2; i < own.size(); ++i) queries += (images / own[i]).string() + "\n";
  }
  const json list = {{"n_way", classes.size()}, {"k_shot", 2}, {"n_query", episode["query"][0].size()},
                     {"split", "novel"},        {"seed", 1},   {"episodes", {episode}}};
  write_text(folder / "episodes.json", list.dump());
  write_text(folder / "supports.csv", supports);
  write_text(folder / "queries.txt", queries);
  return std::count(queries.begin(), queries.end(), '\n');
}

/// Image -> predicted class, of `evaluate --predictions`.
std::map<std::string, std::string> predictions_in(const fs::path& csv, const fs::path& images) {
  std::map<std::string, std::string> predictions;
  std::istringstream rows(read_text(csv));
  std::string row;
  std::getline(rows, row);  // n_way,k_shot,seed,method,episode,image,true,predicted,probability,margin
  while (std::getline(rows, row)) {
    std::vector<std::string> cells;
    std::istringstream words(row);
    for (std::string cell; std::getline(words, cell, ',');) cells.push_back(cell);
    predictions[(images / cells.at(5)).string()] = cells.at(7);
  }
  return predictions;
}

/// Image -> first class, of `classify --format json`.
std::map<std::string, std::string> answers_in(const std::string& text) {
  std::map<std::string, std::string> answers;
  for (const json& answer : lines_of(text)) answers[answer.at("image")] = answer.at("ranking")[0].at("class");
  return answers;
}

TEST_F(Recognizers, AnswerAsEvaluateDoesToTheLastPrediction) {
  const int64_t queries = write_episode(folder_->path(), out("images"), novel_classes(out("images")));
  const Outcome fitted =
      protocom(folder_->path(), {"fit", "--method", "plda", "--features", out("features.npz").string(), "--knowledge",
                                 out("knowledge.npz").string(), "--out", "equal.npz", "--quiet"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  const std::map<std::string, std::vector<std::string>> methods = {
      {"model", {"mean", "completed", "mean-fusion", "gauss-fusion", "proto-net"}}, {"fitted", {"plda", "plda-vb"}}};
  for (const auto& [part, names] : methods) {
    const std::string file = part == "model" ? out("model.npz").string() : "equal.npz";
    const std::string recognizer = part + ".equal.pcm";
    ASSERT_EQ(protocom(folder_->path(), with_parts({"recognizer", "create", recognizer, "--" + part, file}, out(""),
                                                   {"backbone", "knowledge"}))
                  .exit_code,
              0);
    ASSERT_EQ(protocom(folder_->path(), {"enrol", recognizer, "--csv", "supports.csv"}).exit_code, 0);
    for (const std::string& method : names) {
      const Outcome measured =
          protocom(folder_->path(), {"evaluate", "--features", out("features.npz").string(), "--knowledge",
                                     out("knowledge.npz").string(), "--episodes-file", "episodes.json", "--methods",
                                     method, "--predictions", method + ".csv", "--" + part, file});
      ASSERT_EQ(measured.exit_code, 0) << method << ": " << measured.err;
      const Outcome classified =
          protocom(folder_->path(), {"classify", recognizer, "-", "--method", method, "--format", "json", "--top", "1"},
                   *folder_ / "queries.txt");
      ASSERT_EQ(classified.exit_code, 0) << method << ": " << classified.err;
      const auto answers = answers_in(classified.out);
      EXPECT_EQ(static_cast<int64_t>(answers.size()), queries) << method;
      EXPECT_EQ(answers, predictions_in(*folder_ / (method + ".csv"), out("images"))) << method;
    }
  }
}

TEST_F(Recognizers, ImagesThatCannotBeReadAreNamedAndDoNotStopTheOthers) {
  const fs::path images = folder_->path() / "out/images";
  const std::string name = first_image();
  const std::string folder = name.substr(0, name.find('/'));
  const std::string recognizer = "damaged.pcm";
  const std::string one = (images / name).string();
  ASSERT_EQ(protocom(folder_->path(),
                     with_parts({"recognizer", "create", recognizer}, out(""), {"backbone", "model", "knowledge"}))
                .exit_code,
            0);
  ASSERT_EQ(protocom(folder_->path(), {"enrol", recognizer, one, "--class", folder}).exit_code, 0);
  write_text(*folder_ / "mixed/a.jpg", read_text(one));
  write_text(*folder_ / "mixed/b.jpg", read_text(one).substr(0, 200));
  const Outcome outcome = protocom(folder_->path(), {"classify", recognizer, "mixed", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("mixed/a.jpg,1," + folder + ",1.000000"));
  EXPECT_THAT(outcome.err, HasSubstr("mixed/b.jpg"));
  EXPECT_THAT(outcome.err, HasSubstr("1 of 2 images could not be read"));
  const std::string before = read_text(*folder_ / recognizer);
  EXPECT_EQ(protocom(folder_->path(), {"enrol", recognizer, "mixed/b.jpg", "--class", folder}).exit_code, 1);
  EXPECT_EQ(read_text(*folder_ / recognizer), before) << "a failed enrolment changed the recognizer";
}

TEST_F(Recognizers, CreatingWithImagesOfWhichNoneCanBeReadLeavesNoFile) {
  write_text(folder_->path() / "broken/okapi/1.png", "no image");
  const Outcome made = protocom(folder_->path(), with_parts({"recognizer", "create", "none.pcm", "--images", "broken"},
                                                            out(""), {"backbone", "model", "knowledge"}));
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
  ASSERT_EQ(protocom(folder_->path(),
                     with_parts({"recognizer", "create", "typo.pcm"}, out(""), {"backbone", "model", "knowledge"}))
                .exit_code,
            0);
  const Outcome outcome =
      protocom(folder_->path(), {"enrol", "typo.pcm", one, "--class", "new", "--attributes", attribute + "x"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("'" + attribute + "x'; did you mean '"));
}

TEST_F(Recognizers, ImagesMayFollowTheAttributesAndOneMayBePipedIn) {
  const fs::path one = out("images") / first_image();
  const std::string attributes = read_text(out("images/attributes.csv"));
  const size_t comma = attributes.find(',', attributes.find('\n'));
  const std::string attribute = attributes.substr(comma + 1, attributes.find('\n', comma) - comma - 1);
  ASSERT_EQ(protocom(folder_->path(),
                     with_parts({"recognizer", "create", "piped.pcm"}, out(""), {"backbone", "model", "knowledge"}))
                .exit_code,
            0);
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
  EXPECT_EQ(lines_of(print0.out).size(), 2u);
  write_text(folder_->path() / "empty.txt", "");
  for (const char* command : {"classify", "enrol"}) {
    const Outcome empty = protocom(folder_->path(), {command, "piped.pcm", "-"}, folder_->path() / "empty.txt");
    EXPECT_EQ(empty.exit_code, 1);
    EXPECT_THAT(empty.err, HasSubstr("the standard input is empty"));
  }
}

/// A recognizer of the run's parts, and the enrolled images of its classes as `examples list` counts them.
int64_t images_in(const fs::path& folder, const std::string& recognizer) {
  const Outcome listed = protocom(folder, {"examples", "list", recognizer, "--json"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  return std::count(listed.out.begin(), listed.out.end(), '\n');
}

/// What every command of these tests is about: a recognizer of the run's parts, of the first classes' first image.
std::vector<std::string> create_with_classes(const fs::path& folder, const fs::path& out, const std::string& file,
                                             size_t classes, const std::vector<std::string>& parts) {
  const Outcome made = protocom(folder, with_parts({"recognizer", "create", file}, out, parts));
  EXPECT_EQ(made.exit_code, 0) << made.err;
  std::vector<std::string> images;
  for (const auto& [name, files] : images_by_class(out / "images")) {
    if (images.size() == classes) break;
    images.push_back((out / "images" / files[0]).string());
    EXPECT_EQ(protocom(folder, {"enrol", file, images.back(), "--class", name}).exit_code, 0);
  }
  return images;
}

TEST_F(Recognizers, TakeFeaturesInPlaceOfImages) {
  const std::string features = out("features.npz").string();
  const Outcome made = protocom(folder_->path(), with_parts({"recognizer", "create", "features.pcm"}, out(""),
                                                            {"backbone", "model", "knowledge"}));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Outcome all = protocom(folder_->path(), {"enrol", "features.pcm", "--features", features});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(images_in(folder_->path(), "features.pcm"), 16 * 20);
  EXPECT_EQ(lines_of(protocom(folder_->path(), {"classes", "list", "features.pcm", "--json"}).out).size(), 16u);
  const Outcome one = protocom(folder_->path(), {"enrol", "features.pcm", "--features", features, "--class", "any"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(images_in(folder_->path(), "features.pcm"), 2 * 16 * 20);
  const std::string image = (out("images") / first_image()).string();
  EXPECT_EQ(protocom(folder_->path(), {"enrol", "features.pcm", image, "--features", features}).exit_code, 2);
}

TEST_F(Recognizers, AnswerInCsvWithAllThatIsSaidOfAnImage) {
  const std::string image =
      create_with_classes(folder_->path(), out(""), "csv.pcm", 2, {"backbone", "model", "knowledge"}).back();
  const std::string name = std::next(images_by_class(out("images")).begin())->first;
  const auto answered = [&](const std::string& format) {
    const Outcome outcome =
        protocom(folder_->path(), {"classify", "csv.pcm", image, "--method", "mean-fusion", "--format", format});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string csv = answered("csv");
  EXPECT_THAT(csv, HasSubstr("image,rank,class,probability,none_of_these,familiarity,attributes,nearest\n"));
  EXPECT_THAT(csv, HasSubstr(image + " (" + name + " 1.000)"));
  const json answer = lines_of(answered("json")).at(0);
  ASSERT_FALSE(answer.at("attributes").empty()) << "those that mattered are shown without being asked for";
  EXPECT_THAT(csv, HasSubstr(answer.at("attributes")[0].at("attribute").get<std::string>() + " "));
  EXPECT_THAT(answered("table"), HasSubstr("attributes"));
}

TEST_F(Recognizers, TakeTheSharesOfABatchThatAreGiven) {
  const Outcome fitted =
      protocom(folder_->path(), {"fit", "--method", "plda", "--features", out("features.npz").string(), "--knowledge",
                                 out("knowledge.npz").string(), "--out", "shares.npz", "--quiet"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  const Outcome made = protocom(
      folder_->path(),
      with_parts({"recognizer", "create", "shares.pcm", "--fitted", "shares.npz"}, out(""), {"backbone", "knowledge"}));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto by_class = images_by_class(out("images"));
  const std::string first = by_class.begin()->first;
  std::string image;
  for (const auto& entry : {*by_class.begin(), *std::next(by_class.begin())}) {
    image = (out("images") / entry.second[0]).string();
    ASSERT_EQ(protocom(folder_->path(), {"enrol", "shares.pcm", image, "--class", entry.first}).exit_code, 0);
  }
  const auto classified = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"classify", "shares.pcm", image, "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return protocom(folder_->path(), arguments);
  };
  const auto probability_of_first = [&](const std::string& shares) {
    const Outcome outcome = classified({"--shares", shares});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const json answer = lines_of(outcome.out).at(0);
    EXPECT_EQ(answer.at("mode"), "transductive");
    for (const json& one : answer.at("ranking")) {
      if (one.at("class") == first) return one.at("probability").get<double>();
    }
    return -1.0;
  };
  EXPECT_GT(probability_of_first(first + "=0.9999"), probability_of_first(first + "=0.0001"));
  const Outcome unknown = classified({"--shares", first + "x=0.5"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean '" + first + "'"));
  EXPECT_EQ(classified({"--proportions", "given"}).exit_code, 2);
  EXPECT_EQ(classified({"--proportions", "balanced"}).exit_code, 0);
}

TEST_F(Recognizers, ReportFoldersAndOthersThatCannotBeReadAndGoOn) {
  create_with_classes(folder_->path(), out(""), "report.pcm", 4, {"backbone", "model", "knowledge"});
  const auto by_class = images_by_class(out("images"));
  const auto image = [&](size_t k, size_t i) {
    return (out("images") / std::next(by_class.begin(), static_cast<int64_t>(k))->second[i]).string();
  };
  fs::create_directories(*folder_ / "nothing");
  const Outcome enrolled =
      protocom(folder_->path(), {"enrol", "report.pcm", "nothing", image(0, 1), "--class", by_class.begin()->first});
  EXPECT_EQ(enrolled.exit_code, 1);
  EXPECT_THAT(enrolled.err, HasSubstr("folders without an image that can be read: 1; images enrolled: 1"));
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
}

TEST_F(Recognizers, SortNamesThatWouldBeOneFolderIntoTwo) {
  const auto by_class = images_by_class(out("images"));
  ASSERT_EQ(protocom(folder_->path(),
                     with_parts({"recognizer", "create", "twins.pcm"}, out(""), {"backbone", "model", "knowledge"}))
                .exit_code,
            0);
  std::vector<std::string> sort = {"sort", "twins.pcm", "--out", "twins"};
  auto own = by_class.begin();
  for (const char* name : {"a/b", "a_b", "none of these"}) {
    sort.push_back((out("images") / (own++)->second[0]).string());
    ASSERT_EQ(protocom(folder_->path(), {"enrol", "twins.pcm", sort.back(), "--class", name}).exit_code, 0);
  }
  const Outcome sorted = protocom(folder_->path(), sort);
  ASSERT_EQ(sorted.exit_code, 0) << sorted.err;
  std::vector<std::string> folders;
  for (const std::string& file : files_below(*folder_ / "twins")) folders.push_back(file.substr(0, file.find('/')));
  EXPECT_THAT(folders, ::testing::UnorderedElementsAre("a_b", "a_b-2", "none of these-2"));
}

TEST_F(Recognizers, ManyEnrolmentsAtOnceAllCount) {
  ASSERT_EQ(protocom(folder_->path(),
                     with_parts({"recognizer", "create", "together.pcm"}, out(""), {"backbone", "model", "knowledge"}))
                .exit_code,
            0);
  std::vector<std::unique_ptr<Program>> programs;
  for (const auto& [name, files] : images_by_class(out("images"))) {
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
  EXPECT_EQ(images_in(folder_->path(), "together.pcm"), 16);
  EXPECT_EQ(protocom(folder_->path(), {"recognizer", "check", "together.pcm"}).exit_code, 0);
}

TEST_F(Recognizers, ARecognizerHoldsWhatWasAcknowledgedWheneverItsProgramIsKilled) {
  ASSERT_EQ(protocom(folder_->path(),
                     with_parts({"recognizer", "create", "killed.pcm"}, out(""), {"backbone", "model", "knowledge"}))
                .exit_code,
            0);
  std::vector<std::string> files;
  for (const auto& [name, own] : images_by_class(out("images"))) files.insert(files.end(), own.begin(), own.end());
  std::mt19937 random(3);
  int64_t acknowledged = 0, sure = 0;
  for (size_t i = 0; i < 12; ++i) {
    const bool killed = i % 4 != 0;
    Program program(folder_->path(), {"enrol", "killed.pcm", (out("images") / files.at(i)).string(), "--class", "any",
                                      "--threads", "1", "--quiet"});
    if (killed) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 1500));
      program.kill();
    }
    const Outcome outcome = program.wait();
    if (!killed) {
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    }
    acknowledged += outcome.exit_code == 0 ? 1 : 0;
    const int64_t now = images_in(folder_->path(), "killed.pcm");
    EXPECT_GE(now, acknowledged) << "an acknowledged image is lost";
    EXPECT_LE(now - sure, 1);
    sure = now;
  }
  EXPECT_EQ(protocom(folder_->path(), {"recognizer", "check", "killed.pcm"}).exit_code, 0);
}

TEST_F(Recognizers, ARecognizerIsListedCorrectedCalibratedAndMoved) {
  const auto by_class = images_by_class(out("images"));
  fs::create_directories(*folder_ / "few");
  for (const auto& [name, files] : by_class) {
    for (size_t i = 0; i < 3; ++i)
      write_text(*folder_ / "few" / name / fs::path(files[i]).filename(), read_text(out("images") / files[i]));
  }
  const Outcome made = protocom(folder_->path(), with_parts({"recognizer", "create", "all.pcm", "--images", "few",
                                                             "--attributes", out("images/attributes.csv").string()},
                                                            out(""), {"backbone", "model", "knowledge"}));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto run = [&](const std::vector<std::string>& arguments) { return protocom(folder_->path(), arguments); };
  const std::string first = by_class.begin()->first;
  const auto classes = lines_of(run({"classes", "list", "all.pcm", "--json"}).out);
  ASSERT_EQ(classes.size(), by_class.size());
  EXPECT_EQ(classes[0].at("images"), 3);
  EXPECT_FALSE(classes[0].at("attributes").empty());
  EXPECT_EQ(run({"classes", "rename", "all.pcm", first, "renamed"}).exit_code, 0);
  EXPECT_THAT(run({"classes", "show", "all.pcm", "renamed"}).out, HasSubstr("attributes"));
  const Outcome unknown = run({"classes", "show", "all.pcm", "renamedd"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'renamed'?"));
  EXPECT_THAT(run({"undo", "all.pcm"}).out, HasSubstr("rename class '" + first + "'"));
  EXPECT_EQ(run({"classes", "show", "all.pcm", "renamed"}).exit_code, 1);
  const json example = lines_of(run({"examples", "list", "all.pcm", "--class", first, "--json"}).out).at(0);
  EXPECT_EQ(run({"examples", "remove", "all.pcm", example.at("example").dump()}).exit_code, 0);
  EXPECT_EQ(images_in(folder_->path(), "all.pcm"), static_cast<int64_t>(3 * by_class.size() - 1));
  EXPECT_EQ(run({"classes", "remove", "all.pcm", first}).exit_code, 0);
  EXPECT_EQ(run({"undo", "all.pcm"}).exit_code, 0);
  EXPECT_EQ(run({"undo", "all.pcm"}).exit_code, 0);
  EXPECT_EQ(images_in(folder_->path(), "all.pcm"), static_cast<int64_t>(3 * by_class.size()));

  const Outcome calibrated = run({"calibrate", "all.pcm", "--false-accept", "0.1"});
  ASSERT_EQ(calibrated.exit_code, 0) << calibrated.err;
  EXPECT_THAT(run({"recognizer", "info", "all.pcm"}).out, HasSubstr("10.0 % of others pass"));
  const json answer =
      lines_of(
          run({"classify", "all.pcm", (out("images") / by_class.begin()->second[5]).string(), "--format", "json"}).out)
          .at(0);
  EXPECT_TRUE(answer.at("none_of_these").is_boolean());
  EXPECT_TRUE(answer.at("familiarity").is_number());

  ASSERT_EQ(run({"recognizer", "export", "all.pcm", "--out", "exported"}).exit_code, 0);
  const Outcome imported = run({"recognizer", "import", "exported", "--out", "back.pcm"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(images_in(folder_->path(), "back.pcm"), images_in(folder_->path(), "all.pcm"));
  EXPECT_EQ(run({"recognizer", "compact", "back.pcm"}).exit_code, 0);
  EXPECT_EQ(run({"recognizer", "check", "back.pcm"}).exit_code, 0);
}

TEST_F(Recognizers, SortIntoAFolderForEachClass) {
  const auto by_class = images_by_class(out("images"));
  ASSERT_EQ(protocom(folder_->path(),
                     with_parts({"recognizer", "create", "sort.pcm"}, out(""), {"backbone", "model", "knowledge"}))
                .exit_code,
            0);
  std::vector<std::string> sort = {"sort", "sort.pcm", "--out", "sorted"};
  for (const auto& entry : {*by_class.begin(), *std::next(by_class.begin())}) {
    const std::string image = (out("images") / entry.second[0]).string();
    ASSERT_EQ(protocom(folder_->path(), {"enrol", "sort.pcm", image, "--class", "../" + entry.first}).exit_code, 0);
    sort.push_back(image);
  }
  sort.push_back(sort.back());
  const Outcome sorted = protocom(folder_->path(), sort);
  ASSERT_EQ(sorted.exit_code, 0) << sorted.err;
  const std::string first = fs::path(sort[4]).filename(), second = fs::path(sort[5]).stem();
  const std::string one = "_.._" + by_class.begin()->first, other = "_.._" + std::next(by_class.begin())->first;
  EXPECT_THAT(files_below(*folder_ / "sorted"),
              ::testing::UnorderedElementsAre(one + "/" + first, other + "/" + second + ".jpg",
                                              other + "/" + second + "-2.jpg"))
      << "a class's name leads nowhere else, and nothing is replaced";
  sort.insert(sort.end(), {"--link"});
  EXPECT_EQ(protocom(folder_->path(), sort).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(*folder_ / "sorted" / one / (fs::path(first).stem().string() + "-2.jpg")));
  fs::create_directories(*folder_ / "unsorted");
  fs::copy_file(sort[4], *folder_ / "unsorted/whole.jpg");
  write_text(*folder_ / "unsorted/cut.jpg", "\xff\xd8\xff");
  write_text(*folder_ / "unsorted/notes.txt", "no image");
  const Outcome mixed = protocom(folder_->path(), {"sort", "sort.pcm", "unsorted", "--out", "apart"});
  EXPECT_EQ(mixed.exit_code, 1);
  EXPECT_THAT(mixed.err, HasSubstr("1 of 2 images could not be read"));
  EXPECT_THAT(mixed.err, HasSubstr("1 file is left out: 1 .txt"));
  EXPECT_THAT(files_below(*folder_ / "apart"), ::testing::SizeIs(1));
}

TEST_F(Recognizers, AnswerWhatArrivesInAFolder) {
  const std::string image = (out("images") / first_image()).string();
  ASSERT_EQ(protocom(folder_->path(),
                     with_parts({"recognizer", "create", "watch.pcm"}, out(""), {"backbone", "model", "knowledge"}))
                .exit_code,
            0);
  ASSERT_EQ(protocom(folder_->path(), {"enrol", "watch.pcm", image, "--class", "seen"}).exit_code, 0);
  fs::create_directories(*folder_ / "arrivals");
  Program watching(folder_->path(), {"watch", "watch.pcm", "arrivals", "--most", "1"});
  std::atomic<bool> ended{false};
  std::thread arriving([&] {  // until it watches
    for (int64_t n = 0; !ended; ++n) {
      write_text(*folder_ / "arrivals" / (std::to_string(n) + ".jpg"), read_text(image));
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  });
  const Outcome outcome = watching.wait();
  ended = true;
  arriving.join();
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json answer = lines_of(outcome.out).at(0);
  EXPECT_THAT(answer.at("image").get<std::string>(), HasSubstr("arrivals/"));
  EXPECT_EQ(answer.at("ranking")[0].at("class"), "seen");
}

/// Waits for something, at most a minute.
bool comes_true(const std::function<bool()>& what) {
  for (int i = 0; i < 600 && !what(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return what();
}

TEST_F(Recognizers, WatchMissesNoImageAndSaysWhenTheFolderIsGone) {
  const std::string image =
      create_with_classes(folder_->path(), out(""), "missed.pcm", 1, {"backbone", "model", "knowledge"}).front();
  const fs::path folder = *folder_ / "busy";
  write_text(folder / "there.jpg", read_text(image));
  Program watching(folder_->path(), {"watch", "missed.pcm", "busy", "--existing", "--log-file", "missed.log"});
  const auto answers = [&](const char* name) {
    return comes_true([&] { return watching.out_so_far().find(name) != std::string::npos; });
  };
  ASSERT_TRUE(answers("there.jpg")) << watching.out_so_far();
  watching.signal(SIGSTOP);
  const int most = std::stoi(read_text("/proc/sys/fs/inotify/max_queued_events"));
  for (int i = 0; i < most + 10; ++i) std::ofstream(folder / (i % 2 == 0 ? "a.txt" : "b.txt")) << i;
  write_text(folder / "late.jpg", read_text(image));  // of which the system does not tell
  watching.signal(SIGCONT);
  EXPECT_TRUE(answers("late.jpg")) << watching.out_so_far();
  const std::string name = images_by_class(out("images")).begin()->first;
  ASSERT_EQ(protocom(folder_->path(), {"classes", "remove", "missed.pcm", name}).exit_code, 0);
  write_text(folder / "lost.jpg", read_text(image));
  EXPECT_TRUE(comes_true(
      [&] { return read_text(*folder_ / "missed.log").find("there is no class yet") != std::string::npos; }));
  ASSERT_EQ(protocom(folder_->path(), {"undo", "missed.pcm"}).exit_code, 0);
  write_text(folder / "after.jpg", read_text(image));
  EXPECT_TRUE(answers("after.jpg"));
  fs::remove_all(folder);
  const Outcome outcome = watching.wait();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("busy is no longer there"));
}

}  // namespace
}  // namespace protocom::testing
