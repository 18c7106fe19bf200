#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "cli/recognizers.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Writes the same episode three times: as a list for `evaluate` (episodes.json), its supports as a CSV for `enrol`
/// (supports.csv), its queries as names for `classify` (queries.txt). Returns the number of queries.
int64_t write_episode(const fs::path& folder, const fs::path& images, const std::vector<std::string>& classes,
                      const std::map<std::string, std::vector<std::string>>& by_class) {
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

/// Returns image -> predicted class, of `evaluate --predictions`.
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

/// Returns image -> first class, of `classify --format json`.
std::map<std::string, std::string> answers_in(const std::string& text) {
  std::map<std::string, std::string> answers;
  for (const json& answer : json_lines(text)) answers[answer.at("image")] = answer.at("ranking")[0].at("class");
  return answers;
}

TEST_F(Recognizers, AnswerAsEvaluateDoesToTheLastPrediction) {
  const int64_t queries = write_episode(folder_->path(), out("images"), novel_classes(), images_by_class());
  const Outcome fitted =
      protocom(folder_->path(), {"fit", "--method", "plda", "--features", out("features.npz").string(), "--knowledge",
                                 out("knowledge.npz").string(), "--out", "equal.npz", "--quiet"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  const std::map<std::string, std::vector<std::string>> methods = {
      {"model", {"mean", "completed", "mean-fusion", "gauss-fusion", "proto-net"}}, {"fitted", {"plda", "plda-vb"}}};
  for (const auto& [part, names] : methods) {
    const std::string file = part == "model" ? out("model.npz").string() : "equal.npz";
    const std::string recognizer = part + ".equal.pcm";
    ASSERT_EQ(create(recognizer, {"--" + part, file}, kFittedParts).exit_code, 0);
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

TEST_F(Recognizers, AnswerInCsvWithAllThatIsSaidOfAnImage) {
  const std::string image = create_with_classes("csv.pcm", 2).back();
  const std::string name = std::next(images_by_class().begin())->first;
  const auto answered = [&](const std::string& format) {
    const Outcome outcome =
        protocom(folder_->path(), {"classify", "csv.pcm", image, "--method", "mean-fusion", "--format", format});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string csv = answered("csv");
  EXPECT_THAT(csv, HasSubstr("image,class,probability,class_2,probability_2,none_of_these,none,familiarity,"
                             "nearest_note,attributes,nearest\n"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 2) << "a row an image";
  const Outcome to_file = protocom(folder_->path(), {"classify", "csv.pcm", image, "--method", "mean-fusion",
                                                     "--format", "csv", "--out", "answers.csv"});
  EXPECT_EQ(to_file.exit_code, 0) << to_file.err;
  EXPECT_EQ(read_text(*folder_ / "answers.csv"), csv);
  const std::string rows = answered("csv-long");
  EXPECT_THAT(
      rows, HasSubstr("image,rank,class,probability,none_of_these,none,familiarity,nearest_note,attributes,nearest\n"));
  EXPECT_THAT(rows, AllOf(HasSubstr("\n" + image + ",1,"), HasSubstr("\n" + image + ",2,")));
  EXPECT_THAT(csv, HasSubstr(image + " (" + name + " 1.000)"));
  const json answer = json_lines(answered("json")).at(0);
  ASSERT_FALSE(answer.at("attributes").empty()) << "those that mattered are shown without being requested";
  EXPECT_THAT(csv, HasSubstr(answer.at("attributes")[0].at("words").get<std::string>() + " "));
  EXPECT_THAT(answered("table"), HasSubstr("attributes"));
}

TEST_F(Recognizers, TakeTheSharesOfABatchThatAreGiven) {
  const Outcome fitted =
      protocom(folder_->path(), {"fit", "--method", "plda", "--features", out("features.npz").string(), "--knowledge",
                                 out("knowledge.npz").string(), "--out", "shares.npz", "--quiet"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  const Outcome made = create("shares.pcm", {"--fitted", "shares.npz"}, kFittedParts);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto by_class = images_by_class();
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
    const json answer = json_lines(outcome.out).at(0);
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
  EXPECT_THAT(classified({"--shares", first + "=0.5," + first + "=0.9"}).err, HasSubstr("duplicate class"));
  EXPECT_EQ(classified({"--proportions", "balanced"}).exit_code, 0);
}

}  // namespace
}  // namespace protocom::testing
