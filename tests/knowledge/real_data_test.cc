#include "support/real_data.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "io/csv.h"
#include "io/files.h"
#include "io/npz.h"
#include "knowledge/build.h"
#include "knowledge/word_vectors.h"
#include "knowledge/wordnet_attributes.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using Edges = std::set<std::pair<std::string, std::string>>;

ClassSides mini_imagenet_sides() {
  const CsvTable csv = read_csv(*testing::real_data() / "miniimagenet-split.csv");
  ClassSides sides;
  for (const CsvRow& row : csv.rows) (row.cells[1] == "base" ? sides.base : sides.unseen).push_back(row.cells[0]);
  return sides;
}

nlohmann::json published_graph() {
  return nlohmann::json::parse(read_file(*testing::real_data() / "miniimagenet-published" / "graph.json"));
}

Edges edges_of(const nlohmann::json& graph) {
  Edges edges;
  for (const auto& edge : graph.at("edges")) edges.emplace(edge.at(0), edge.at(1));
  return edges;
}

Knowledge build_mini(Vocabulary vocabulary) {
  BuildOptions options;
  options.sides = mini_imagenet_sides();
  options.vocabulary = vocabulary;
  std::vector<std::string> classes = options.sides->base;
  classes.insert(classes.end(), options.sides->unseen.begin(), options.sides->unseen.end());
  return build_knowledge(wordnet_attributes(WordNet(), classes), options);
}

TEST(RealData, SharedVocabularyOfMiniImageNetIsThePublishedGraph) {
  REQUIRE_REAL_DATA();
  const Knowledge knowledge = build_mini(Vocabulary::kShared);
  const nlohmann::json published = published_graph();
  EXPECT_EQ(knowledge.classes.size(), 100U);
  EXPECT_EQ(knowledge.attributes.size(), 71U);
  const nlohmann::json graph = graph_json(knowledge);
  EXPECT_EQ(graph.at("edges").size(), 794U);
  EXPECT_EQ(edges_of(graph), edges_of(published));
  EXPECT_EQ(graph.at("nodes").get<std::set<std::string>>(), published.at("nodes").get<std::set<std::string>>());
}

TEST(RealData, BaseVocabularyOfMiniImageNetHoldsTheSharedOne) {
  REQUIRE_REAL_DATA();
  const Edges base = edges_of(graph_json(build_mini(Vocabulary::kBase)));
  const Edges shared = edges_of(published_graph());
  EXPECT_GT(base.size(), shared.size());
  EXPECT_TRUE(std::includes(base.begin(), base.end(), shared.begin(), shared.end()));
}

/// GloVe 840B, from which the published vectors were averaged, is not among the real data; this holds for any content:
/// nodes with the same lemmas have the same vector, and a node whose lemma is the one term of another's lemma shares
/// it.
TEST(RealData, PublishedVectorsFollowFromLemmas) {
  REQUIRE_REAL_DATA();
  const WordNet wordnet;
  const auto nodes = published_graph().at("nodes").get<std::vector<std::string>>();
  const at::Tensor vectors = tensor_of(read_npy(*testing::real_data() / "miniimagenet-published" / "node_vectors.npy"));
  ASSERT_EQ(vectors.size(0), static_cast<int64_t>(nodes.size()));
  std::map<std::vector<std::string>, at::Tensor> of_lemmas;
  int same = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto [found, added] = of_lemmas.emplace(wordnet.synset(nodes[i]).lemmas, vectors[static_cast<int64_t>(i)]);
    if (added) continue;
    ++same;
    EXPECT_TRUE(found->second.equal(vectors[static_cast<int64_t>(i)])) << nodes[i];
  }
  EXPECT_EQ(same, 2);  // thorax and air_sac, two synsets each
  std::set<std::vector<std::string>> zero;
  for (const auto& [lemmas, vector] : of_lemmas) {
    if (vector.count_nonzero().item<int64_t>() == 0) zero.insert(lemmas);
  }
  EXPECT_EQ(zero, (std::set<std::vector<std::string>>{{"apodeme"}, {"arthromere"}, {"uropygium"}}));
}

TEST(RealData, WordVectorsOfTheSubsetEmbedEveryClassOfMiniImageNet) {
  REQUIRE_REAL_DATA();
  BuildOptions options;
  options.sides = mini_imagenet_sides();
  options.vectors = *testing::real_data() / "glove.6B.50d.subset.txt.gz";
  const AttributeTable table = wordnet_attributes(WordNet(), options.sides->base);
  const Knowledge knowledge = build_knowledge(table, options);
  EXPECT_EQ(knowledge.embedding_dim(), 50);
  // The vector of "the", the first line of the file, with all its digits.
  const WordVectors vectors = read_word_vectors(*options.vectors, {"the"});
  EXPECT_FLOAT_EQ(vectors.words.at("the")[0], 0.418F);
  EXPECT_FLOAT_EQ(vectors.words.at("the")[2], -0.41242F);
}

TEST(RealData, EveryLemmaOfWordNetIsFoundByItsIndex) {
  REQUIRE_REAL_DATA();
  const WordNet wordnet;
  int64_t lemmas = 0;
  for_each_line(std::filesystem::path(kWordNetFolder) / "index.noun", [&](int64_t, std::string_view line) {
    if (line.substr(0, 1) == " ") return true;
    const std::string lemma(line.substr(0, line.find(' ')));
    const std::vector<std::string> senses = wordnet.senses(lemma);
    EXPECT_FALSE(senses.empty()) << lemma;
    if (!senses.empty()) {
      EXPECT_TRUE(wordnet.contains(senses.front())) << lemma;
    }
    ++lemmas;
    return true;
  });
  EXPECT_EQ(lemmas, 117798);  // wnstats(7WN): unique noun strings of WordNet 3.0
}

}  // namespace
}  // namespace protocom
