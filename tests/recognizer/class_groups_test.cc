#include "recognizer/class_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/files.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

TEST(ClassGroups, AreTheLevelsOfTitles) {
  for (const char* title :
       {"animals/birds/robin", "animals|birds|robin", "animals; birds;robin", "animals > birds > robin"})
    EXPECT_THAT(class_levels(title), ElementsAre("animals", "birds", "robin")) << title;
  EXPECT_THAT(class_levels("f1856211-cfb7-4a5b-9158-c0f72fd09ee6;mammalia;;felidae"),
              ElementsAre("mammalia", "felidae"))
      << "as SpeciesNet writes them";
  EXPECT_THAT(class_levels("robin"), ElementsAre("robin"));
  EXPECT_THAT(class_levels(" / "), IsEmpty());
}

std::vector<std::vector<std::string>> levels() {
  return {{"animals", "birds", "robin"}, {"animals", "birds", "wren"}, {"animals", "fox"}, {"empty"}};
}

/// Returns "animals/birds .9" of the group, rounded.
std::string group_of(double least, int64_t best = 0) {
  const Eigen::Vector4d probabilities(0.5, 0.3, 0.15, 0.05);
  const auto found = probable_group(levels(), probabilities, best, least);
  return found ? found->name + " " + std::to_string(found->probability).substr(0, 4) : "none";
}

TEST(ClassGroups, AreTheNarrowestThatIsAsProbable) {
  EXPECT_EQ(group_of(0.4), "animals/birds/robin 0.50") << "the class itself";
  EXPECT_EQ(group_of(0.6), "animals/birds 0.80");
  EXPECT_EQ(group_of(0.9), "animals 0.95");
  EXPECT_EQ(group_of(0.99), "none");
  EXPECT_EQ(group_of(0.9, 3), "none") << "a class without levels has no group but itself";
  EXPECT_EQ(group_of(0.05, 3), "empty 0.05");
}

TEST(ClassGroups, AreReadFromATableOfClassesOrOfImages) {
  const TempDir folder;
  const auto read = [&](const std::string& text) {
    write_file(folder.path() / "groups.csv", text);
    return read_class_groups(folder.path() / "groups.csv");
  };
  const std::map<std::string, std::string> expected = {{"robin", "animals/birds"}, {"red fox", "animals"}};
  EXPECT_EQ(read("class,group\nrobin,animals/birds\nred fox,animals\nstone,\n"), expected);
  EXPECT_EQ(read("\xEF\xBB\xBFSpecies;Taxonomy\r\nrobin ;animals/birds\r\nred  fox;animals\r\n"), expected)
      << "as a spreadsheet writes it";
  EXPECT_EQ(read("image,label,group\n1.jpg,robin,animals/birds\n2.jpg,robin,\n3.jpg,red fox,animals\n"), expected);
  for (const auto& [text, words] :
       {std::pair("class,group\nrobin,birds\nrobin,plants\n",
                  "groups.csv:3: the group of 'robin' is 'plants' here and 'birds' at .*groups.csv:2: keep one"),
        {"class,kind\nrobin,birds\n",
         "groups.csv:1: expected one column group or taxonomy, found 0; the columns are "
         "class, kind"},
        {"class,group,taxonomy\nrobin,birds,birds\n", "found 2; the columns"},
        {"name,group\nrobin,birds\n", "groups.csv:1: no column of classes"}})
    EXPECT_THAT([&] { read(text); }, ThrowsMessage<Error>(ContainsRegex(words)));
}

TEST(ClassGroups, HoldTheClassBelowThem) {
  EXPECT_THAT(grouped_levels("robin", "animals; birds"), ElementsAre("animals", "birds", "robin"));
  EXPECT_THAT(grouped_levels("a/b", "birds"), ElementsAre("birds", "a/b")) << "a class's own name has no levels then";
  EXPECT_THAT(own_levels("robin", "birds|robin"), ElementsAre("birds", "robin"));
  EXPECT_THAT(own_levels("birds/robin", "European robin"), ElementsAre("birds", "robin"));
}

// The title of a class is its name in words, which has no separators, unless one is stated.
TEST(ClassGroups, AreKeywordsInWordsFromTheWidestToTheClass) {
  EXPECT_THAT(keyword_levels("animals/birds/Bronzed_Cowbird", "animals birds Bronzed Cowbird", ""),
              ElementsAre("animals", "birds", "Bronzed Cowbird"));
  const std::string id = "f1856211-cfb7-4a5b-9158-c0f72fd09ee6";
  EXPECT_THAT(
      keyword_levels(id + ";aves;passeriformes;;bronzed cowbird", id + " aves passeriformes bronzed cowbird", ""),
      ElementsAre("aves", "passeriformes", "bronzed cowbird"));
  EXPECT_THAT(keyword_levels(id + ";;;blank", id + " blank", ""), ElementsAre("blank"));
  EXPECT_THAT(keyword_levels("027.Bronzed_Cowbird", "Bronzed Cowbird", ""), ElementsAre("Bronzed Cowbird"));
  EXPECT_THAT(keyword_levels("robin", "", ""), ElementsAre("robin"));
  EXPECT_THAT(keyword_levels("n01532829", "house finch, linnet", ""), ElementsAre("house finch"));
  EXPECT_THAT(keyword_levels("birds/robin", "European robin", ""), ElementsAre("birds", "European robin"));
  EXPECT_THAT(keyword_levels("robin", "animals|Birds & bats|robin", ""),
              ElementsAre("animals", "Birds & bats", "robin"));
  EXPECT_THAT(keyword_levels("Bronzed_Cowbird", "Bronzed Cowbird", "animals > Birds & bats"),
              ElementsAre("animals", "Birds & bats", "Bronzed Cowbird"));
  EXPECT_THAT(keyword_levels("/", "", ""), ElementsAre("/"));
}

}  // namespace
}  // namespace protocom::testing
