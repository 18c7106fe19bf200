#include "datasets/episodes.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "io/files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Returns ten classes that belong to the three splits in turn ("class0" base, "class1" val, "class2" novel, ...),
/// class i with 20 + i images whose rows are spread over the set.
FeatureSet ten_classes() {
  FeatureSet set;
  std::vector<int64_t> labels;
  for (int64_t round = 0; round < 30; ++round) {
    for (int64_t label = 0; label < 10; ++label) {
      if (round < 20 + label) labels.push_back(label);
    }
  }
  for (int64_t label = 0; label < 10; ++label) {
    set.class_names.push_back("class" + std::to_string(label));
    set.class_split.push_back(kAllSplits[static_cast<size_t>(label % 3)]);
  }
  for (size_t i = 0; i < labels.size(); ++i) set.image_ids.push_back("image" + std::to_string(i));
  set.labels = {labels.begin(), labels.end()};
  set.features = Array::zeros({set.size(), 2});
  return set;
}

bool equal(const Episode& a, const Episode& b) {
  return a.classes == b.classes && a.support == b.support && a.query == b.query;
}

bool equal(const EpisodeList& a, const EpisodeList& b) {
  return a.episodes.size() == b.episodes.size() && std::equal(a.episodes.begin(), a.episodes.end(), b.episodes.begin(),
                                                              [](const auto& x, const auto& y) { return equal(x, y); });
}

class EpisodesTest : public ::testing::Test {
 protected:
  std::string error_of(const std::function<void()>& call) const { return testing::message_of(call); }

  /// Returns two 2-way 1-shot episodes with two queries per class, over the novel classes class2 (image2, 12, 22, ...)
  /// and class5.
  static json example() {
    return json::parse(R"({"n_way": 2, "k_shot": 1, "n_query": 2, "split": "novel", "seed": 0, "episodes": [
        {"classes": ["class5", "class2"], "support": [["image5"], ["image2"]], "query": [["image15", "image25"], ["image12", "image22"]]},
        {"classes": ["class2", "class5"], "support": [["image22"], ["image35"]], "query": [["image2", "image12"], ["image5", "image15"]]}]})");
  }
  EpisodeList read(const std::string& text) const {
    write_file(folder_ / "e.json", text);
    return read_episodes(folder_ / "e.json", features_);
  }
  std::string error_after(const std::function<void(json&)>& change) const {
    json changed = example();
    change(changed);
    return error_of([&] { read(changed.dump()); });
  }

  FeatureSet features_ = ten_classes();
  testing::TempDir folder_;
};

TEST_F(EpisodesTest, HoldTheAskedNumberOfClassesOfTheSplitAndOfTheirImages) {
  const EpisodeShape shape{3, 4, 5};
  for (const Split split : kAllSplits) {
    const EpisodeList list = sample_episodes(features_, {split, shape, 100, 1});
    EXPECT_EQ(list.split, split);
    EXPECT_EQ(list.seed, 1u);
    ASSERT_EQ(list.episodes.size(), 100u);
    for (const Episode& episode : list.episodes) {
      ASSERT_EQ(std::set<int64_t>(episode.classes.begin(), episode.classes.end()).size(), 3u);
      ASSERT_EQ(episode.support.size(), 3u);
      ASSERT_EQ(episode.query.size(), 3u);
      std::set<int64_t> rows;
      for (size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(features_.class_split[static_cast<size_t>(episode.classes[c])], split);
        EXPECT_EQ(episode.support[c].size(), 4u);
        EXPECT_EQ(episode.query[c].size(), 5u);
        for (const auto* group : {&episode.support[c], &episode.query[c]}) {
          for (const int64_t row : *group) {
            EXPECT_EQ(features_.labels[static_cast<size_t>(row)], episode.classes[c]);
            rows.insert(row);
          }
        }
      }
      EXPECT_EQ(rows.size(), 3u * (4 + 5)) << "support and query overlap";
    }
  }
}

TEST_F(EpisodesTest, UseEveryImageWhenThereAreJustEnough) {
  for (auto& split : features_.class_split) split = Split::kVal;
  features_.class_split[0] = features_.class_split[1] = Split::kBase;
  const auto rows = features_.rows_by_class();
  ASSERT_EQ(rows[0].size(), 20u);
  const EpisodeList list = sample_episodes(features_, {Split::kBase, {2, 5, 15}, 1, 1});
  const Episode& episode = list.episodes[0];
  for (size_t c = 0; c < 2; ++c) {
    if (episode.classes[c] != 0) continue;
    std::vector<int64_t> used = episode.support[c];
    used.insert(used.end(), episode.query[c].begin(), episode.query[c].end());
    EXPECT_THAT(used, ::testing::UnorderedElementsAreArray(rows[0]));
  }
}

TEST_F(EpisodesTest, DependOnTheSeedAndTheirNumberOnly) {
  const EpisodeList few = sample_episodes(features_, {Split::kNovel, {2, 1, 3}, 5, 42});
  EpisodeList many = sample_episodes(features_, {Split::kNovel, {2, 1, 3}, 50, 42});
  many.episodes.resize(5);
  EXPECT_TRUE(equal(few, many));
}

TEST_F(EpisodesTest, AreTheSameForTheSameSeedAndOthersForAnother) {
  const auto draw = [&](uint64_t seed) { return sample_episodes(features_, {Split::kBase, {3, 2, 4}, 20, seed}); };
  EXPECT_TRUE(equal(draw(7), draw(7)));
  EXPECT_EQ(draw(7).hash(features_), draw(7).hash(features_));
  EXPECT_FALSE(equal(draw(7), draw(8)));
  EXPECT_NE(draw(7).hash(features_), draw(8).hash(features_));
  std::set<std::vector<std::vector<int64_t>>> supports;
  for (const Episode& episode : draw(7).episodes) supports.insert(episode.support);
  EXPECT_EQ(supports.size(), 20u) << "episodes of one list differ";
}

TEST_F(EpisodesTest, DrawEveryClassAndEveryImageOfItEquallyOften) {
  constexpr int kEpisodes = 6000;
  const EpisodeList list =
      sample_episodes(features_, {Split::kVal, {2, 1, 1}, kEpisodes, 3});  // from class1, class4 and class7
  std::map<int64_t, int> of_class;
  std::map<int64_t, int> of_support;
  for (const Episode& episode : list.episodes) {
    for (const int64_t label : episode.classes) ++of_class[label];
    for (const auto& rows : episode.support) ++of_support[rows[0]];
  }
  // Each class is in 2/3 of the episodes, give or take 5 standard deviations; so for its 21, 24 and 27 images.
  ASSERT_EQ(of_class.size(), 3u);
  for (const auto& [label, count] : of_class)
    EXPECT_NEAR(count, kEpisodes * 2 / 3., 5 * std::sqrt(kEpisodes * 2 / 9.)) << label;
  ASSERT_EQ(of_support.size(), 21u + 24 + 27);
  for (const auto& [row, count] : of_support) {
    const double expected =
        kEpisodes * 2 / 3. / (20. + static_cast<double>(features_.labels[static_cast<size_t>(row)]));
    EXPECT_NEAR(count, expected, 5 * std::sqrt(expected)) << row;
  }
}

TEST_F(EpisodesTest, NameTheClassThatHasTooFewImages) {
  EXPECT_THAT(error_of([&] {
                sample_episodes(features_, {Split::kNovel, {2, 8, 15}, 1, 1});
              }),
              AllOf(HasSubstr("class 'class2' has 22 images"), HasSubstr("8 shots and 15 queries need 23")));
  EXPECT_EQ(sample_episodes(features_, {Split::kNovel, {2, 7, 15}, 1, 1}).episodes.size(), 1u);
}

TEST_F(EpisodesTest, SayWhenTheSplitHasTooFewClasses) {
  EXPECT_THAT(error_of([&] {
                sample_episodes(features_, {Split::kNovel, {5, 1, 15}, 1, 1});
              }),
              AllOf(HasSubstr("the split 'novel' has 3 classes"), HasSubstr("5-way")));
}

TEST_F(EpisodesTest, RefuseAShapeThatCannotBe) {
  const auto usage_error = [&](const EpisodeShape& shape, int64_t count) {
    return testing::usage_message_of([&] { sample_episodes(features_, {Split::kBase, shape, count, 1}); });
  };
  EXPECT_THAT(usage_error({1, 1, 1}, 1), HasSubstr("n-way: expected at least 2, found 1"));
  EXPECT_THAT(usage_error({2, -1, 1}, 1), HasSubstr("k-shot: expected at least 0, found -1"));
  EXPECT_THAT(usage_error({2, 3, 1, 2}, 1), HasSubstr("found 3 to 2"));
  EXPECT_THAT(usage_error({2, 1, 1, 0, -1}, 1), HasSubstr("unlabelled images per class: expected at least 0"));
  EXPECT_THAT(usage_error({2, 1, 1, 0, 0, QueryDistribution::kDirichlet, 0}, 1), HasSubstr("alpha"));
  EXPECT_THAT(usage_error({2, 1, -3}, 1), HasSubstr("at least 1, found -3"));
  EXPECT_THAT(usage_error({2, 1, 1}, 0), HasSubstr("episodes: expected at least 1, found 0"));
  EXPECT_THAT(usage_error({2, 1, 1}, int64_t{1} << 31),
              HasSubstr("episodes: expected at most 67108864 of 4 images each, found 2147483648"));
}

TEST_F(EpisodesTest, ReadWhatAnotherProgramWrote) {
  const EpisodeList list = read(example().dump(2));
  EXPECT_EQ(list.shape.n_way, 2);
  EXPECT_EQ(list.shape.k_shot, 1);
  EXPECT_EQ(list.shape.n_query, 2);
  EXPECT_EQ(list.split, Split::kNovel);
  ASSERT_EQ(list.episodes.size(), 2u);
  EXPECT_THAT(list.episodes[0].classes, ElementsAre(5, 2));
  EXPECT_THAT(list.episodes[0].support, ElementsAre(ElementsAre(5), ElementsAre(2)));
  EXPECT_THAT(list.episodes[0].query, ElementsAre(ElementsAre(15, 25), ElementsAre(12, 22)));
  EXPECT_THAT(list.episodes[1].support, ElementsAre(ElementsAre(22), ElementsAre(35)));
  json without_seed = example();
  without_seed.erase("seed");
  EXPECT_EQ(read(without_seed.dump()).seed, 0u);
}

TEST_F(EpisodesTest, ComeBackFromAFileWithTheSameHash) {
  const EpisodeList list = sample_episodes(features_, {Split::kBase, {3, 2, 4}, 30, 9});
  write_episodes(folder_ / "e.json", list, features_);
  const EpisodeList back = read_episodes(folder_ / "e.json", features_);
  EXPECT_TRUE(equal(back, list));
  EXPECT_EQ(back.seed, 9u);
  EXPECT_EQ(back.hash(features_), list.hash(features_));
  EXPECT_EQ(back.hash(features_), hash_file(folder_ / "e.json"));
}

TEST_F(EpisodesTest, HaveTheSameHashOverFeaturesInAnotherOrder) {
  const EpisodeList list = sample_episodes(features_, {Split::kNovel, {2, 1, 3}, 4, 1});
  write_episodes(folder_ / "e.json", list, features_);
  FeatureSet reversed = features_;
  std::reverse(reversed.image_ids.begin(), reversed.image_ids.end());
  std::reverse(reversed.labels.begin(), reversed.labels.end());
  const EpisodeList elsewhere = read_episodes(folder_ / "e.json", reversed);
  EXPECT_FALSE(equal(elsewhere, list));
  EXPECT_EQ(elsewhere.hash(reversed), list.hash(features_));
}

TEST_F(EpisodesTest, AreWrittenUnderTheDocumentedNames) {
  const EpisodeList list = sample_episodes(features_, {Split::kNovel, {2, 1, 3}, 2, 5});
  write_episodes(folder_ / "e.json", list, features_);
  const json written = json::parse(read_file(folder_ / "e.json"));
  EXPECT_EQ(written.at("n_way"), 2);
  EXPECT_EQ(written.at("k_shot"), 1);
  EXPECT_EQ(written.at("n_query"), 3);
  EXPECT_EQ(written.at("split"), "novel");
  EXPECT_EQ(written.at("seed"), 5);
  const Episode& episode = list.episodes[1];
  EXPECT_EQ(written.at("episodes").at(1).at("classes").at(0), "class" + std::to_string(episode.classes[0]));
  EXPECT_EQ(written.at("episodes").at(1).at("support").at(1).at(0), "image" + std::to_string(episode.support[1][0]));
  EXPECT_EQ(written.at("episodes").at(1).at("query").at(1).at(2), "image" + std::to_string(episode.query[1][2]));
}

TEST_F(EpisodesTest, CannotNameImagesInJsonThatAreNotUtf8) {
  const EpisodeList list = sample_episodes(features_, {Split::kNovel, {2, 1, 3}, 30, 5});
  for (auto& id : features_.image_ids) id += "\xe9";
  EXPECT_THAT(error_of([&] { write_episodes(folder_ / "e.json", list, features_); }), HasSubstr("is not UTF-8"));
  EXPECT_THAT(error_of([&] { (void)list.hash(features_); }), HasSubstr("is not UTF-8"));
}

TEST_F(EpisodesTest, AreRefusedWithTheNumberOfTheOneThatDoesNotFitTheFeatures) {
  const auto in_episode_1 = [](const std::string& what) {
    return AllOf(HasSubstr("e.json: episode 1"), HasSubstr(what));
  };
  EXPECT_THAT(error_after([](json& j) { j["episodes"][1]["classes"][0] = "unicorn"; }),
              in_episode_1("class 'unicorn'"));
  EXPECT_THAT(error_after([](json& j) { j["episodes"][1]["classes"][0] = "class0"; }),
              in_episode_1("'class0', which is in the split 'base', not 'novel'"));
  EXPECT_THAT(error_after([](json& j) { j["episodes"][1]["query"][0][1] = "image9999"; }),
              in_episode_1("image 'image9999'"));
  EXPECT_THAT(error_after([](json& j) { j["episodes"][1]["support"][0][0] = "image25"; }),
              in_episode_1("'image25' under 'class2'"));
  EXPECT_THAT(error_after([](json& j) { j["episodes"][1]["query"][0][1] = "image22"; }),
              in_episode_1("duplicate image 'image22'"));
  EXPECT_THAT(error_after([](json& j) { j["episodes"][1]["query"][0][1] = "image2"; }),
              in_episode_1("duplicate image 'image2'"));
  EXPECT_THAT(error_after([](json& j) { j["episodes"][1]["classes"][0] = "class5"; }),
              in_episode_1("a duplicate class"));
}

TEST_F(EpisodesTest, AreRefusedWithTheNumberOfTheOneThatDoesNotFitTheShape) {
  const auto in_episode_0 = [](const std::string& what) {
    return AllOf(HasSubstr("e.json: episode 0"), HasSubstr(what));
  };
  EXPECT_THAT(error_after([](json& j) { j["n_way"] = 3; }), in_episode_0("2 classes, n_way is 3"));
  EXPECT_THAT(error_after([](json& j) { j["k_shot"] = 2; }), in_episode_0("1 images, expected 2"));
  EXPECT_THAT(error_after([](json& j) { j["n_query"] = 1; }), in_episode_0("2 images, expected 1"));
  EXPECT_THAT(error_after([](json& j) { j["episodes"][0]["support"].erase(1); }),
              in_episode_0("1 groups of images for 2 classes"));
  EXPECT_THAT(error_after([](json& j) { j["episodes"][0]["query"][1].erase(1); }),
              in_episode_0("1 images, expected 2"));
}

TEST_F(EpisodesTest, AreRefusedWhenTheFileIsNoEpisodeList) {
  EXPECT_THAT(error_of([&] { read("{\"n_way\": "); }), AllOf(HasSubstr("e.json:1"), HasSubstr("not valid JSON")));
  EXPECT_THAT(error_of([&] { read("[]"); }), HasSubstr("e.json is not an episode list"));
  for (const char* field : {"n_way", "k_shot", "n_query", "split", "episodes"}) {
    EXPECT_THAT(error_after([&](json& j) { j.erase(field); }),
                AllOf(HasSubstr("e.json is not an episode list"), HasSubstr(field)));
    EXPECT_THAT(error_after([&](json& j) { j[field] = json::array({json::array()}); }), HasSubstr("e.json")) << field;
  }
  for (const char* count : {"n_way", "k_shot", "n_query", "most_shots", "unlabelled", "seed"}) {
    EXPECT_THAT(error_after([&](json& j) { j[count] = 2.5; }), HasSubstr("whole number")) << count;
    EXPECT_THAT(error_after([&](json& j) { j[count] = 1e19; }), HasSubstr("e.json")) << count;
  }
  for (const char* field : {"classes", "support", "query"}) {
    EXPECT_THAT(error_after([&](json& j) { j["episodes"][1].erase(field); }),
                AllOf(HasSubstr("e.json"), HasSubstr(field)));
  }
  EXPECT_THAT(error_after([](json& j) { j["episodes"] = json::array(); }), HasSubstr("e.json holds no episode"));
  EXPECT_THAT(error_of([&] { read_episodes(folder_ / "missing.json", features_); }), HasSubstr("missing.json"));
}

TEST_F(EpisodesTest, BlameTheFileForAShapeOrSplitThatCannotBe) {
  EXPECT_THAT(error_after([](json& j) { j["n_way"] = 1; }),
              AllOf(HasSubstr("e.json"), HasSubstr("n-way: expected at least 2")));
  EXPECT_THAT(error_after([](json& j) { j["split"] = "unseen"; }), AllOf(HasSubstr("e.json"), HasSubstr("'unseen'")));
  json wrong = example();
  wrong["split"] = "unseen";
  EXPECT_EQ(testing::usage_message_of([&] { read(wrong.dump()); }), "(no UsageError)");
}

EpisodeShape unusual_shape() {
  EpisodeShape shape{3, 1, 4};
  shape.most_shots = 5;
  shape.unlabelled = 2;
  shape.query_distribution = QueryDistribution::kDirichlet;
  shape.alpha = 0.5;
  return shape;
}

TEST_F(EpisodesTest, WithAPoolHaveTheSameSupportsAndQueriesAsWithout) {
  EpisodeShape shape{3, 2, 4};
  const EpisodeList without = sample_episodes(features_, {Split::kNovel, shape, 50, 9});
  shape.unlabelled = 6;
  const EpisodeList with = sample_episodes(features_, {Split::kNovel, shape, 50, 9});
  for (size_t i = 0; i < 50; ++i) {
    EXPECT_TRUE(equal(with.episodes[i], without.episodes[i]));
    EXPECT_TRUE(without.episodes[i].pool.empty());
    ASSERT_EQ(with.episodes[i].pool.size(), 3u);
    std::set<int64_t> rows;
    for (const auto* groups : {&with.episodes[i].support, &with.episodes[i].query, &with.episodes[i].pool}) {
      for (size_t c = 0; c < 3; ++c) {
        for (const int64_t row : (*groups)[c]) {
          EXPECT_EQ(features_.labels[static_cast<size_t>(row)], with.episodes[i].classes[c]);
          EXPECT_TRUE(rows.insert(row).second) << "an image of the pool is a support or a query";
        }
      }
    }
    EXPECT_EQ(rows.size(), 3u * (2 + 4 + 6));
  }
}

TEST_F(EpisodesTest, WhenRaggedHaveEveryNumberOfShotsEquallyOften) {
  EpisodeShape shape{3, 2, 4};
  shape.most_shots = 5;
  constexpr int kEpisodes = 2000;
  std::map<size_t, int> of_shots;
  for (const Episode& episode : sample_episodes(features_, {Split::kNovel, shape, kEpisodes, 1}).episodes) {
    for (const auto& rows : episode.support) ++of_shots[rows.size()];
    for (const auto& rows : episode.query) EXPECT_EQ(rows.size(), 4u);
  }
  ASSERT_EQ(of_shots.size(), 4u);
  for (const auto& [shots, count] : of_shots) {
    EXPECT_GE(shots, 2u);
    EXPECT_LE(shots, 5u);
    EXPECT_NEAR(count, kEpisodes * 3 / 4., 5 * std::sqrt(kEpisodes * 3 * 3 / 16.));
  }
}

TEST_F(EpisodesTest, DrawUnbalancedQueriesWithTheMomentsOfADirichletDistribution) {
  // A share of Dirichlet(alpha, alpha, alpha) has the mean 1/3 and the variance (1/3)(2/3) / (3 alpha + 1). With 12
  // queries, rounding adds a variance of about 1/12 of a query. No class is ever exhausted: each has at least 22
  // images.
  for (const double alpha : {0.5, 2.0, 20.0}) {
    EpisodeShape shape{3, 1, 4};
    shape.query_distribution = QueryDistribution::kDirichlet;
    shape.alpha = alpha;
    constexpr int kEpisodes = 4000;
    double sum = 0;
    double squares = 0;
    for (const Episode& episode : sample_episodes(features_, {Split::kNovel, shape, kEpisodes, 1}).episodes) {
      size_t total = 0;
      for (const auto& rows : episode.query) total += rows.size();
      ASSERT_EQ(total, 12u);
      const auto first = static_cast<double>(episode.query[0].size());
      sum += first;
      squares += first * first;
    }
    const double mean = sum / kEpisodes;
    const double variance = squares / kEpisodes - mean * mean;
    const double expected = 144.0 * 2 / 9 / (3 * alpha + 1) + 1.0 / 12;
    EXPECT_NEAR(mean, 4, 5 * std::sqrt(expected / kEpisodes)) << alpha;
    EXPECT_NEAR(variance / expected, 1, 0.12) << alpha;
  }
}

TEST_F(EpisodesTest, GiveToOtherClassesTheQueriesThatAClassHasNoImagesFor) {
  // class2, class5 and class8 have 22, 25 and 28 images; with one support each and 57 queries, a nearly single-class
  // draw is impossible.
  EpisodeShape shape{3, 1, 19};
  shape.query_distribution = QueryDistribution::kDirichlet;
  shape.alpha = 0.05;
  bool cut_off = false;
  for (const Episode& episode : sample_episodes(features_, {Split::kNovel, shape, 50, 1}).episodes) {
    size_t total = 0;
    for (size_t i = 0; i < 3; ++i) {
      total += episode.query[i].size();
      ASSERT_LE(episode.query[i].size(), 20u + static_cast<size_t>(episode.classes[i]) - 1);
      cut_off |= episode.query[i].size() == 20u + static_cast<size_t>(episode.classes[i]) - 1;
    }
    EXPECT_EQ(total, 57u);
  }
  EXPECT_TRUE(cut_off);
}

TEST_F(EpisodesTest, OfUnusualShapesComeBackFromTheirFile) {
  const EpisodeList list = sample_episodes(features_, {Split::kNovel, unusual_shape(), 20, 4});
  write_episodes(folder_ / "e.json", list, features_);
  const EpisodeList back = read_episodes(folder_ / "e.json", features_);
  EXPECT_EQ(back.shape.most_shots, 5);
  EXPECT_EQ(back.shape.unlabelled, 2);
  EXPECT_EQ(back.shape.query_distribution, QueryDistribution::kDirichlet);
  EXPECT_EQ(back.shape.alpha, 0.5);
  ASSERT_TRUE(equal(list, back));
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(back.episodes[i].pool, list.episodes[i].pool);
  EXPECT_EQ(back.hash(features_), list.hash(features_));
}

TEST_F(EpisodesTest, AreWrittenAsTheJsonLibraryWritesTheSameObject) {
  features_.image_ids[5] = "quoted \"name\" with \\ and \u00e9";
  for (const EpisodeShape& shape : {EpisodeShape{3, 1, 4}, unusual_shape()}) {
    const EpisodeList list = sample_episodes(features_, {Split::kNovel, shape, 30, 4});
    write_episodes(folder_ / "e.json", list, features_);
    const std::string text = read_file(folder_ / "e.json");
    EXPECT_EQ(json::parse(text).dump(), text);
  }
}

TEST_F(EpisodesTest, OfFilesFromBeforePoolsHaveNone) {
  const EpisodeList list = read(example().dump());
  EXPECT_EQ(list.shape.unlabelled, 0);
  EXPECT_FALSE(list.shape.ragged());
  EXPECT_EQ(list.shape.query_distribution, QueryDistribution::kBalanced);
  EXPECT_TRUE(list.episodes[0].pool.empty());
}

TEST_F(EpisodesTest, NameAPoolThatIsMissingOrOverlaps) {
  EXPECT_THAT(error_after([](json& list) { list["unlabelled"] = 1; }), HasSubstr("pool"));
  EXPECT_THAT(error_after([](json& list) {
                list["unlabelled"] = 1;
                for (auto& episode : list["episodes"]) episode["pool"] = episode["support"];
              }),
              AllOf(HasSubstr("episode 0"), HasSubstr("duplicate image"), HasSubstr("pool")));
  EXPECT_THAT(error_after([](json& list) { list["episodes"][1]["support"][0].push_back("image32"); }),
              HasSubstr("episode 1 has 2 images, expected 1"));
  EXPECT_THAT(error_after([](json& list) {
                list["query_distribution"] = "dirichlet";
                list["episodes"][0]["query"][0].erase(0);
              }),
              HasSubstr("has 3 queries"));
  EXPECT_THAT(error_after([](json& list) { list["query_distribution"] = "poisson"; }), HasSubstr("poisson"));
}

}  // namespace
}  // namespace protocom
