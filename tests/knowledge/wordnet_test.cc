#include "knowledge/wordnet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "knowledge/choose_synset.h"
#include "knowledge/mini_wordnet.h"
#include "knowledge/wordnet_attributes.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using ::testing::UnorderedElementsAre;

class AnimalsTest : public ::testing::Test {
 protected:
  std::string id(const std::string& key) const { return wnids_.at(key); }

  testing::TempDir folder_;
  std::map<std::string, std::string> wnids_ = testing::write_animals(folder_.path());
  WordNet wordnet_{folder_.path()};
};

TEST_F(AnimalsTest, ReadsEveryFieldOfASynset) {
  const Synset dog = wordnet_.synset(id("dog"));
  EXPECT_EQ(dog.wnid, id("dog"));
  EXPECT_THAT(dog.lemmas, ElementsAre("dog", "Canis_familiaris"));
  EXPECT_THAT(dog.hypernyms, ElementsAre(id("animal"), id("pet")));
  EXPECT_THAT(dog.meronyms.at(Meronym::kPart), ElementsAre(id("tail")));
  EXPECT_THAT(dog.meronyms.at(Meronym::kSubstance), ElementsAre(id("flesh")));
  EXPECT_THAT(dog.meronyms.at(Meronym::kMember), ElementsAre(id("pack")));
  EXPECT_EQ(dog.gloss, "the gloss of dog");
  EXPECT_EQ(title(dog), "dog, Canis familiaris");
}

TEST_F(AnimalsTest, WalksEveryHypernymPathAndInstances) {
  EXPECT_THAT(wordnet_.ancestors(id("dog")), ElementsAre(id("animal"), id("pet"), id("entity")));
  EXPECT_THAT(wordnet_.ancestors(id("rex")), ElementsAre(id("dog"), id("animal"), id("pet"), id("entity")));
  EXPECT_THAT(wordnet_.ancestors(id("entity")), IsEmpty());
}

TEST_F(AnimalsTest, AttributesAreThePartsOfTheClassAndOfAllItsHypernyms) {
  EXPECT_THAT(wordnet_.attributes(id("dog")),
              UnorderedElementsAre(id("tail"), id("head"), id("collar"), id("essence")));
  EXPECT_THAT(wordnet_.attributes(id("rex")),
              UnorderedElementsAre(id("tail"), id("head"), id("collar"), id("essence")));
  EXPECT_THAT(wordnet_.attributes(id("bird")), UnorderedElementsAre(id("tail"), id("wing"), id("head"), id("essence")));
  EXPECT_THAT(wordnet_.attributes(id("tail")), IsEmpty());
}

TEST_F(AnimalsTest, OtherMeronymsCountWhenTheyAreAskedFor) {
  EXPECT_THAT(wordnet_.attributes(id("dog"), {Meronym::kSubstance}), ElementsAre(id("flesh")));
  EXPECT_THAT(wordnet_.attributes(id("rex"), {Meronym::kSubstance, Meronym::kMember}),
              UnorderedElementsAre(id("flesh"), id("pack")));
}

TEST_F(AnimalsTest, LooksUpLemmasAndSenses) {
  EXPECT_THAT(wordnet_.senses("crane"), ElementsAre(id("crane_machine"), id("crane_bird")));
  EXPECT_THAT(wordnet_.senses("Canis familiaris"), ElementsAre(id("dog")));
  EXPECT_THAT(wordnet_.senses("unicorn"), IsEmpty());
  EXPECT_THAT(wordnet_.senses(""), IsEmpty());
  EXPECT_EQ(wordnet_.resolve("crane"), id("crane_machine"));
  EXPECT_EQ(wordnet_.resolve("crane.n.02"), id("crane_bird"));
  EXPECT_EQ(wordnet_.resolve("crane.n.03"), std::nullopt);
  EXPECT_EQ(wordnet_.resolve(id("wing")), id("wing"));
}

TEST_F(AnimalsTest, FindsEveryLemmaOfTheIndex) {
  for (const char* lemma : {"animal", "bird", "canis_familiaris", "collar", "crane", "dog", "entity", "essence",
                            "flesh", "fowl", "head", "hook", "pack", "pet", "rex", "tail", "wing"}) {
    EXPECT_FALSE(wordnet_.senses(lemma).empty()) << lemma;
  }
}

TEST_F(AnimalsTest, ContainsOnlyOffsetsOfSynsets) {
  EXPECT_TRUE(wordnet_.contains(id("dog")));
  for (const char* wrong : {"", "dog", "n1", "n99999999", "n00000000", "n00000003", "v00000100", "n0000010x"}) {
    EXPECT_FALSE(wordnet_.contains(wrong)) << wrong;
  }
  EXPECT_THAT(message_of([&] { (void)wordnet_.synset("n99999999"); }), HasSubstr("no synset 'n99999999'"));
}

TEST(WordNet, SaysWhichPackageBringsAMissingDatabase) {
  const testing::TempDir empty;
  EXPECT_THAT(message_of([&] { const WordNet wordnet(empty.path()); }), HasSubstr("wordnet-base"));
}

TEST(WordNet, RefusesALineThatEndsTooEarly) {
  const testing::TempDir folder;
  std::ofstream(folder / "data.noun") << "00000000 03 n 02 dog 0\n";
  std::ofstream(folder / "index.noun") << "dog n 1 0 1 0 00000000\n";
  EXPECT_THAT(message_of([&] { (void)WordNet(folder.path()).synset("n00000000"); }),
              HasSubstr("the line ends before its word"));
}

TEST_F(AnimalsTest, TableHasARowForEveryClassAndAColumnForEveryAttribute) {
  const AttributeTable table = wordnet_attributes(wordnet_, {id("dog"), id("bird")});
  ASSERT_EQ(tensor_of(table.association).sizes(), (std::vector<int64_t>{2, 5}));
  EXPECT_THAT(table.attributes, UnorderedElementsAre(id("tail"), id("head"), id("collar"), id("essence"), id("wing")));
  for (size_t a = 0; a < table.attributes.size(); ++a) {
    const bool of_dog = table.attributes[a] != id("wing");
    const bool of_bird = table.attributes[a] != id("collar");
    EXPECT_EQ(tensor_of(table.association)[0][static_cast<int64_t>(a)].item<float>(), of_dog ? 1 : 0);
    EXPECT_EQ(tensor_of(table.association)[1][static_cast<int64_t>(a)].item<float>(), of_bird ? 1 : 0);
  }
  EXPECT_THAT(table.context, UnorderedElementsAre(id("animal"), id("pet"), id("entity")));
  EXPECT_THAT(table.lemmas.at(id("bird")), ElementsAre("bird", "fowl"));
}

TEST_F(AnimalsTest, ClassesThatAreNoWnidsAreFoundByLemmaOrByMap) {
  WordNetAttributesOptions options;
  options.class_synsets = {{"my_crane", "crane.n.02"}};
  const AttributeTable table = wordnet_attributes(wordnet_, {"Dog", "my_crane", "unicorn"}, options);
  EXPECT_EQ(tensor_of(table.association).ne(0).sum(1)[0].item<int64_t>(), 4);  // tail, head, collar, essence
  EXPECT_EQ(tensor_of(table.association).ne(0).sum(1)[1].item<int64_t>(), 4);  // tail, wing, head, essence
  EXPECT_EQ(tensor_of(table.association).ne(0).sum(1)[2].item<int64_t>(), 0);
  EXPECT_EQ(table.source.at("classes_unknown"), nlohmann::json::array({"unicorn"}));
  EXPECT_EQ(table.source.at("synsets"), (nlohmann::json{{"Dog", id("dog")}, {"my_crane", id("crane_bird")}}));
}

TEST_F(AnimalsTest, RefusesAMapToAnUnknownSynsetAndAListOfUnknownClasses) {
  WordNetAttributesOptions options;
  options.class_synsets = {{"x", "unicorn"}};
  EXPECT_THAT(message_of([&] { wordnet_attributes(wordnet_, {"x"}, options); }),
              HasSubstr("class 'x' is mapped to 'unicorn'"));
  EXPECT_THAT(message_of([&] {
                wordnet_attributes(wordnet_, {"a1", "b2"});
              }),
              HasSubstr("none of the 2 classes is in WordNet"));
}

TEST(WordNetAttributes, AllClassesOfSeveralSensesAreNamedAtOnceWithTheirCandidates) {
  const testing::TempDir folder;
  const auto wnids = testing::write_mini_wordnet(folder.path(), {{"writer", {"crane", "jay"}, {}},
                                                                 {"crane_bird", {"crane"}, {}},
                                                                 {"jay_bird", {"jay"}, {}},
                                                                 {"robin", {"robin"}, {}}});
  const WordNet wordnet(folder.path());
  const testing::Logged heard;
  EXPECT_THAT(message_of([&] {
                wordnet_attributes(wordnet, {"crane", "jay", "robin"});
              }),
              AllOf(HasSubstr("2 classes have several senses"), HasSubstr("crane, jay"), HasSubstr("--class-synsets")));
  EXPECT_THAT(heard.text(), AllOf(HasSubstr(wnids.at("crane_bird")), HasSubstr(wnids.at("jay_bird"))));
}

/// The content of Debian's wordnet-base, which setup installs.
TEST(WordNet30, TellsJayAndCraneAmongBirdsAndRefusesThemAlone) {
  const WordNet wordnet;
  const AttributeTable birds = wordnet_attributes(wordnet, {"jay", "crane", "nuthatch", "house sparrow", "flamingo"});
  EXPECT_EQ(birds.source.at("synsets").at("jay"), "n01580077");
  EXPECT_EQ(birds.source.at("synsets").at("crane"), "n02012849");
  const Kinship nobody(wordnet, {});
  EXPECT_THAT(consider_synset(wordnet, "jay", nobody).doubt, AllOf(HasSubstr("John Jay"), HasSubstr("n01580077")));
  EXPECT_THAT(consider_synset(wordnet, "crane", nobody).doubt, HasSubstr("Hart Crane"));
}

TEST(ClassSynsets, RefusesAClassThatIsNamedTwice) {
  const testing::TempDir folder;
  std::ofstream(folder / "map.csv") << "class,synset\ncat,cat.n.01\ncat,n02121620\n";
  EXPECT_THAT(message_of([&] { read_class_synsets(folder / "map.csv"); }),
              HasSubstr("map.csv:3: duplicate class 'cat'"));
}

}  // namespace
}  // namespace protocom
