#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

uint32_t crc32_of(const std::string& bytes) {
  uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320 & (0 - (crc & 1)));
  }
  return ~crc;
}

template <typename Number>
void put(std::string& out, Number value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));  // both are little-endian
}

/// Writes the fields that a zip's local header and its directory share, for a stored member.
void put_member_fields(std::string& out, const std::string& name, const std::string& content) {
  for (const int field : {20, 0, 0, 0, 0x21}) put(out, static_cast<uint16_t>(field));
  put(out, crc32_of(content));
  put(out, static_cast<uint32_t>(content.size()));
  put(out, static_cast<uint32_t>(content.size()));
  put(out, static_cast<uint16_t>(name.size()));
  put(out, uint16_t{0});
}

std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string body;
  std::string directory;
  for (const auto& [name, content] : members) {
    directory += std::string("PK\x01\x02\x14\x00", 6);
    put_member_fields(directory, name, content);
    directory += std::string(10, '\0');
    put(directory, static_cast<uint32_t>(body.size()));
    directory += name;
    body += "PK\x03\x04";
    put_member_fields(body, name, content);
    body += name + content;
  }
  std::string end = "PK\x05\x06" + std::string(4, '\0');
  put(end, static_cast<uint16_t>(members.size()));
  put(end, static_cast<uint16_t>(members.size()));
  put(end, static_cast<uint32_t>(directory.size()));
  put(end, static_cast<uint32_t>(body.size()));
  return body + directory + end + std::string(2, '\0');
}

std::string npy_of(const std::string& type, const std::string& shape, const std::string& data) {
  std::string dict = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  dict.append(64 - (10 + dict.size() + 1) % 64, ' ');
  std::string out("\x93NUMPY\x01\x00", 8);
  put(out, static_cast<uint16_t>(dict.size() + 1));
  return out + dict + '\n' + data;
}

/// Returns 8 classes (2 base, 6 novel) of 20 images on the corners of a cube, each image a little off its corner.
std::string features_file() {
  std::string features;
  std::string labels;
  std::string names;
  std::string splits;
  uint32_t state = 1;
  for (int label = 0; label < 8; ++label) {
    for (int image = 0; image < 20; ++image) {
      for (int axis = 0; axis < 3; ++axis) {
        state = state * 1664525 + 1013904223;
        const float noise = static_cast<float>(state >> 8) / (1 << 24);
        put(features, (((label >> axis) & 1) != 0 ? 1.0F : -1.0F) + 2 * noise);
      }
      put(labels, int64_t{label});
    }
    names += std::string("class") + static_cast<char>('0' + label);
    splits += label < 2 ? std::string("base\0", 5) : std::string("novel");
  }
  return zip_of({{"features.npy", npy_of("<f4", "160, 3", features)},
                 {"labels.npy", npy_of("<i8", "160,", labels)},
                 {"names.npy", npy_of("|S6", "8,", names)},
                 {"split.npy", npy_of("|S5", "8,", splits)}});
}

class Evaluate : public ::testing::Test {
 protected:
  Evaluate() { write_text(folder_ / "features.npz", features_file()); }

  Outcome run(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--quiet", "--threads", "1", "evaluate", "--features", "features.npz"};
    const auto has = [&](const char* option) { return std::find(more.begin(), more.end(), option) != more.end(); };
    if (!has("--episodes-file")) arguments.insert(arguments.end(), {"--n-query", "4", "--episodes", "30"});
    if (!has("--methods")) arguments.insert(arguments.end(), {"--methods", "mean"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return protocom(folder_.path(), arguments);
  }
  json written(const std::string& name) { return json::parse(read_text(folder_ / name)); }

  TempDir folder_;
};

TEST_F(Evaluate, PoolsSeedsAndSaysWhatItChecked) {
  const Outcome outcome = run({"--k-shot", "1,1-5", "--seeds", "3,4", "--json", "r.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("5-way 1-5-shot"), HasSubstr("inductive"), HasSubstr("checked: 120 episodes")));
  const json file = written("r.json");
  ASSERT_EQ(file["results"].size(), 2u);
  EXPECT_EQ(file["results"][1]["k_shot"], 1);
  EXPECT_EQ(file["results"][1]["k_shot_max"], 5);
  EXPECT_EQ(file["results"][0]["episodes"], 60);
  EXPECT_EQ(file["results"][0]["per_seed"][1]["seed"], 4);
  EXPECT_EQ(file["checks"]["disjoint"]["episodes"], 120);
  EXPECT_TRUE(file["checks"]["passed"].get<bool>());
  EXPECT_EQ(file["episode_lists"].size(), 4u);
  EXPECT_EQ(file["episode_lists"][0]["hash"].get<std::string>().size(), 32u);
  EXPECT_EQ(file["hashes"]["features"], file["dataset"]["features_hash"]);
  // A pooled accuracy is computed from all seeds together.
  const auto& row = file["results"][0];
  EXPECT_NEAR(row["accuracy"].get<double>(),
              (row["per_seed"][0]["accuracy"].get<double>() + row["per_seed"][1]["accuracy"].get<double>()) / 2, 1e-9);
}

TEST_F(Evaluate, TakesFewerClassesAnEpisodeWhereASplitHasFewerUnlessANumberIsAskedFor) {
  const Outcome outcome =
      protocom(folder_.path(), {"evaluate", "--features", "features.npz", "--n-query", "4", "--episodes", "30",
                                "--split", "base", "--k-shot", "1", "--methods", "mean"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the split 'base' has 2 classes: episodes are 2-way, not 5-way"));
  EXPECT_THAT(outcome.out, HasSubstr("2-way 1-shot"));
  const Outcome asked = run({"--split", "base", "--k-shot", "1", "--n-way", "5"});
  EXPECT_EQ(asked.exit_code, 1);
  EXPECT_THAT(asked.err, HasSubstr("5-way episodes need 5"));
}

TEST_F(Evaluate, RunsASavedListOfUnusualEpisodesAgain) {
  const Outcome drawn = run({"--k-shot", "1-3", "--unlabelled", "2", "--query-distribution", "dirichlet", "--alpha",
                             "1", "--save-episodes", "e.json", "--json", "a.json"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  const Outcome again = run({"--episodes-file", "e.json", "--json", "b.json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const json a = written("a.json");
  const json b = written("b.json");
  EXPECT_EQ(a["results"], b["results"]);
  EXPECT_EQ(a["episodes_hash"], b["episodes_hash"]);
  EXPECT_EQ(run({"--episodes-file", "e.json", "--k-shot", "1"}).exit_code, 2) << "the file states its shots";
  EXPECT_EQ(a["results"][0]["query_distribution"], "dirichlet");
  EXPECT_EQ(a["results"][0]["unlabelled"], 2);
}

TEST_F(Evaluate, WritesEveryPrediction) {
  const Outcome outcome = run({"--k-shot", "1", "--predictions", "p.csv", "--json", "r.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines(read_text(folder_ / "p.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "n_way,k_shot,seed,method,episode,image,true,predicted,probability,margin");
  double correct = 0;
  double total = 0;
  for (; std::getline(lines, line); ++total) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    ASSERT_EQ(cells.size(), 10u) << line;
    correct += cells[6] == cells[7] ? 1 : 0;
  }
  EXPECT_EQ(total, 30 * 5 * 4);
  EXPECT_NEAR(100 * correct / total, written("r.json")["results"][0]["accuracy"].get<double>(), 1e-9);
}

TEST_F(Evaluate, ComparesVariantsOfAMethodWithABaselineOfItsOwn) {
  const Outcome outcome =
      run({"--k-shot", "1", "--methods", "simple-shot,simple-shot:transform=none,mean", "--baseline", "simple-shot",
           "--compare", "mean/simple-shot:transform=none", "--json", "r.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("gain over simple-shot"));
  const json file = written("r.json");
  ASSERT_EQ(file["results"].size(), 3u);
  EXPECT_EQ(file["results"][1]["method"], "simple-shot:transform=none");
  EXPECT_FALSE(file["results"][0].contains("cosine")) << "it has no prototypes among the features";
  EXPECT_TRUE(file["results"][2].contains("cosine"));
  ASSERT_EQ(file["differences"].size(), 3u);
  EXPECT_EQ(file["differences"][0]["baseline"], "simple-shot");
  EXPECT_EQ(file["differences"][2]["method"], "mean");
}

TEST_F(Evaluate, TakesABaselineWithADefaultForWhatItIs) {
  const Outcome outcome = run({"--k-shot", "1", "--methods", "mean,simple-shot", "--baseline", "mean:gamma=0"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("gain over mean "));
  const Outcome several =
      run({"--k-shot", "1", "--methods", "simple-shot:transform=none,simple-shot:transform=l2n,mean", "--baseline",
           "simple-shot"});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(several.err, HasSubstr("is ambiguous (simple-shot:transform=none or simple-shot:transform=l2n)"));
}

TEST_F(Evaluate, TakesAMethodThatWasFitted) {
  const auto fit = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--quiet", "fit", "--features", "features.npz"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return protocom(folder_.path(), arguments);
  };
  const Outcome fitted = fit({"--method", "restore-net:steps=50", "--out", "f.npz"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_THAT(protocom(folder_.path(), {"show", "f.npz"}).out, HasSubstr("fitted-method"));
  const Outcome outcome =
      run({"--k-shot", "1", "--methods", "mean,restore-net", "--fitted", "f.npz", "--json", "r.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(written("r.json")["results"][1]["method"], "restore-net:steps=50");
  EXPECT_THAT(run({"--k-shot", "1", "--methods", "mean,restore-net"}).err,
              HasSubstr("is not fitted: run `protocom fit"));
  EXPECT_THAT(run({"--k-shot", "1", "--fitted", "f.npz"}).err,
              HasSubstr("no method uses the file of 'restore-net:steps=50'"));
  EXPECT_THAT(run({"--k-shot", "1", "--split", "base", "--n-way", "2", "--methods", "restore-net", "--fitted", "f.npz"})
                  .exit_code,
              0)
      << "base classes may be evaluated as such";
  EXPECT_EQ(fit({"--method", "mean", "--out", "g.npz"}).exit_code, 2);
  EXPECT_THAT(fit({"--method", "restore", "--out", "g.npz"}).err, HasSubstr("did you mean 'restore-net'"));
}

TEST_F(Evaluate, ListsAndDescribesEveryMethod) {
  const Outcome all = protocom(folder_.path(), {"methods"});
  for (const char* name : {"mean", "gauss-fusion", "simple-shot", "restore-net"}) EXPECT_THAT(all.out, HasSubstr(name));
  EXPECT_THAT(protocom(folder_.path(), {"methods", "gauss-fusion"}).out,
              AllOf(HasSubstr("transductive"), HasSubstr("lambda of equation 12"), HasSubstr("CVPR 2021")));
  const json listed = json::parse(protocom(folder_.path(), {"methods", "--json"}).out);
  EXPECT_EQ(listed[3]["name"], "gauss-fusion");
  EXPECT_EQ(listed[3]["parameters"][1]["default"], 10.0);
  EXPECT_EQ(listed[3]["trained_by_torch"], false);
  const json trained = json::parse(protocom(folder_.path(), {"methods", "cfa", "--json"}).out);
  EXPECT_EQ(trained[0]["trained_by_torch"], true);
  EXPECT_THAT(protocom(folder_.path(), {"methods", "cfa"}).out,
              AllOf(HasSubstr("fitting, feature maps (protocom extract --maps), LibTorch (plug-in)"),
                    HasSubstr("of the channels before they are divided")));
  EXPECT_THAT(protocom(folder_.path(), {"methods", "plda"}).out, HasSubstr("fitting (optional)"));
  EXPECT_EQ(protocom(folder_.path(), {"methods", "nothing"}).exit_code, 2);
}

TEST_F(Evaluate, RefusesWhatCannotBe) {
  EXPECT_THAT(run({"--k-shot", "five"}).err, HasSubstr("found 'five'"));
  EXPECT_THAT(run({"--k-shot", "5-1"}).err, HasSubstr("5 to 1"));
  EXPECT_THAT(run({"--k-shot", "1", "--compare", "mean,completed"}).err, HasSubstr("comparison: unknown method"));
  EXPECT_THAT(run({"--k-shot", "1", "--query-distribution", "poisson"}).err, HasSubstr("poisson"));
  EXPECT_THAT(run({"--k-shot", "1", "--seeds", "1,2", "--save-episodes", "e.json"}).err, HasSubstr("single seed"));
  const Outcome greedy = run({"--k-shot", "1", "--unlabelled", "16"});
  EXPECT_EQ(greedy.exit_code, 1);
  EXPECT_THAT(greedy.err, HasSubstr("1 shots, 4 queries and 16 unlabelled images need 21"));
}

TEST_F(Evaluate, TakesTheMethodsThatTuneChose) {
  const std::vector<std::string> common = {"--features", "features.npz", "--n-way", "2", "--n-query", "4"};
  std::vector<std::string> tuning = {
      "tune",  "--methods", "soft-k-means,simple-shot", "--budget", "4", "--split", "base", "--episodes", "10",
      "--out", "tuned.json"};
  tuning.insert(tuning.end(), common.begin(), common.end());
  const Outcome tuned = protocom(folder_.path(), tuning);
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, AllOf(HasSubstr("soft-k-means"), HasSubstr("chosen")));
  const json file = written("tuned.json");
  ASSERT_EQ(file["chosen"].size(), 2u);
  const Outcome outcome = run({"--methods", "mean", "--tuned", "tuned.json", "--speed", "--json", "r.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("episodes/s"));
  const json results = written("r.json")["results"];
  ASSERT_GE(results.size(), 3u);
  EXPECT_EQ(results[0]["method"], "mean");
  EXPECT_EQ(results[1]["method"], file["chosen"][0]);
  EXPECT_EQ(results[2]["method"], file["chosen"][1]);
  for (const json& row : results) EXPECT_GT(row["episodes_per_second"].get<double>(), 0);
}

TEST_F(Evaluate, ChoosesNoParametersOnNovelClasses) {
  const Outcome outcome = protocom(folder_.path(), {"tune", "--features", "features.npz", "--methods", "simple-shot",
                                                    "--split", "novel", "--n-query", "4"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("on which results are reported"));
}

}  // namespace
}  // namespace protocom::testing
