#include "knowledge/word_vectors.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "base/error.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::vector<float> values(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), tensor.data_ptr<float>() + tensor.numel()};
}

const WordVectors& few_vectors() {
  static const WordVectors vectors{2,
                                   {{"golden", {2, 0}},
                                    {"retriever", {0, 4}},
                                    {"hot_dog", {8, 8}},
                                    {"Apple", {1, 1}},
                                    {"apple", {5, 5}},
                                    {"black", {6, 0}},
                                    {"footed", {0, 2}},
                                    {"well-known", {7, 7}}}};
  return vectors;
}

std::vector<float> embed(const std::vector<std::string>& lemmas) {
  std::set<std::string> missing;
  return values(tensor_of(embed_lemmas(few_vectors(), lemmas, missing)));
}

TEST(EmbedLemmas, AWholeLemmaIsLookedUpFirst) { EXPECT_THAT(embed({"hot_dog"}), ElementsAre(8, 8)); }

TEST(EmbedLemmas, TermsAreAveraged) { EXPECT_THAT(embed({"golden_retriever"}), ElementsAre(1, 2)); }

TEST(EmbedLemmas, ALemmasMeanCountsOnceHoweverManyTermsItHas) {
  // hot_dog [8, 8] and golden_retriever [1, 2]
  EXPECT_THAT(embed({"hot_dog", "golden_retriever"}), ElementsAre(4.5, 5));
}

TEST(EmbedLemmas, ATermsPartsAreAveragedBeforeTheTermsAre) {
  // black-footed [3, 1], retriever [0, 4]; a flat mean of the three words would be [2, 2].
  EXPECT_THAT(embed({"black-footed_retriever"}), ElementsAre(1.5, 2.5));
  EXPECT_THAT(embed({"well-known_retriever"}), ElementsAre(3.5, 5.5));
}

TEST(EmbedLemmas, SpellingAsGivenGoesBeforeSmallLetters) {
  EXPECT_THAT(embed({"Apple"}), ElementsAre(1, 1));
  EXPECT_THAT(embed({"APPLE"}), ElementsAre(5, 5));
  EXPECT_THAT(embed({"Golden_Retriever"}), ElementsAre(1, 2));
}

TEST(EmbedLemmas, WhatHasNoVectorIsLeftOutOfEveryMeanAndListed) {
  std::set<std::string> missing;
  const at::Tensor embedding = tensor_of(embed_lemmas(few_vectors(), {"golden_zzz", "qqq", "black-xxx"}, missing));
  EXPECT_THAT(values(embedding), ElementsAre(4, 0));  // the mean of golden [2, 0] and black [6, 0]
  EXPECT_THAT(missing, UnorderedElementsAre("zzz", "qqq", "xxx"));
}

TEST(EmbedLemmas, GivesZerosWhenNothingIsFound) {
  EXPECT_THAT(embed({"zzz"}), ElementsAre(0, 0));
  EXPECT_THAT(embed({}), ElementsAre(0, 0));
}

TEST(WantedWords, AreEverySpellingThatMayBeLookedUp) {
  std::set<std::string> wanted;
  add_wanted_words("Black-footed_cat", wanted);
  EXPECT_THAT(wanted, UnorderedElementsAre("Black-footed_cat", "black-footed_cat", "Black-footed", "black-footed",
                                           "Black", "black", "footed", "cat"));
}

class VectorFileTest : public ::testing::Test {
 protected:
  WordVectors read(const std::string& text, const std::set<std::string>& wanted = {"cat", "dog"}) const {
    std::ofstream(folder_ / "vectors.txt", std::ios::binary) << text;
    return read_word_vectors(folder_ / "vectors.txt", wanted);
  }
  std::string error_of(const std::string& text) const {
    try {
      read(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "(no Error)";
  }
  testing::TempDir folder_;
};

TEST_F(VectorFileTest, KeepsTheWantedWordsOnly) {
  const WordVectors vectors = read("the 1 2 3\ncat -0.5 1e-2 4\n, 0 0 0\ndog 7 8 +9\n");
  EXPECT_EQ(vectors.dim, 3);
  EXPECT_EQ(vectors.words.size(), 2U);
  EXPECT_THAT(vectors.words.at("cat"), ElementsAre(-0.5F, 0.01F, 4.0F));
  EXPECT_THAT(vectors.words.at("dog"), ElementsAre(7, 8, 9));
}

TEST_F(VectorFileTest, ReadsGzipAsWell) {
  const std::string text = "cat 1 2\nbird 3 4\n";
  gzFile file = gzopen((folder_ / "vectors.txt.gz").c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  gzclose(file);
  const WordVectors vectors = read_word_vectors(folder_ / "vectors.txt.gz", {"bird"});
  EXPECT_EQ(vectors.words.size(), 1U);
  EXPECT_THAT(vectors.words.at("bird"), ElementsAre(3, 4));
}

TEST_F(VectorFileTest, PassesOverTheCountsOfWord2vecAndSpacesAtLineEnds) {
  const WordVectors vectors = read("2 3\r\ncat 1 2 3 \r\ndog 4 5 6 \r\n");
  EXPECT_EQ(vectors.dim, 3);
  EXPECT_THAT(vectors.words.at("dog"), ElementsAre(4, 5, 6));
}

TEST_F(VectorFileTest, PassesOverWordsWithSpaces) {
  const WordVectors vectors = read("cat 1 2\n. . . 3 4\nat name@domain.com 5 6\ndog 7 8\n");
  EXPECT_EQ(vectors.words.size(), 2U);
  EXPECT_THAT(vectors.words.at("dog"), ElementsAre(7, 8));
}

TEST_F(VectorFileTest, KeepsAWordsFirstVector) {
  EXPECT_THAT(read("cat 1 2\ncat 3 4\n").words.at("cat"), ElementsAre(1, 2));
}

TEST_F(VectorFileTest, RefusesALineOfAnotherDimensionEvenWhenItsWordIsNotWanted) {
  EXPECT_THAT(error_of("cat 1 2 3\nhorse 1 2\n"),
              HasSubstr("vectors.txt:2: 'horse' has 2 numbers, the first word has 3"));
  EXPECT_THAT(error_of("cat 1 2\nhorse 1 2 3\n"),
              HasSubstr("vectors.txt:2: 'horse' has 3 numbers, the first word has 2"));
  EXPECT_THAT(error_of("cat 1 2\nhorse\n"), HasSubstr("vectors.txt:2: 'horse'"));
}

TEST_F(VectorFileTest, RefusesWhatIsNoFiniteNumber) {
  EXPECT_THAT(error_of("the 0 0\ncat 1 abc\n"), HasSubstr("vectors.txt:2: 'abc' in the vector of 'cat'"));
  EXPECT_THAT(error_of("cat 1 nan\n"), HasSubstr("vectors.txt:1: 'nan'"));
  EXPECT_THAT(error_of("cat 1 1e99\n"), HasSubstr("vectors.txt:1: '1e99'"));
}

TEST_F(VectorFileTest, RefusesAFileWithoutVectors) {
  EXPECT_THAT(error_of(""), HasSubstr("no word vectors"));
  EXPECT_THAT(error_of("cat\n"), HasSubstr("vectors.txt:1"));
}

}  // namespace
}  // namespace protocom
