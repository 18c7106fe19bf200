// Vectors of classes from any text encoder: how they are read, and the knowledge made from them.
#include "knowledge/class_vectors.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "io/npz.h"
#include "knowledge/build.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Names = std::vector<std::string>;

void write_npz(const std::filesystem::path& path, const Names& names, const at::Tensor& vectors) {
  NpzWriter writer(path);
  writer.add("vectors", array_of(vectors));
  writer.add("names", names);
  writer.close();
}

void write_lines(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

TEST(ClassVectors, AreReadFromNpzAndCsvAlike) {
  const testing::TempDir folder;
  const at::Tensor vectors = at::tensor({1.5F, -2.0F, 0.25F, 4.0F}).view({2, 2});
  write_npz(folder / "v.npz", {"owl", "red  fox"}, vectors.to(at::kHalf));
  write_lines(folder / "v.csv", "name,x,y\nowl,1.5,-2\nred fox,.25,4e0\n");
  for (const char* file : {"v.npz", "v.csv"}) {
    const ClassVectors read = read_class_vectors(folder / file);
    EXPECT_THAT(read.classes, ElementsAre("owl", "red fox")) << file;
    EXPECT_TRUE(tensor_of(read.vectors).equal(vectors)) << file;
  }
}

TEST(ClassVectors, OfSeveralDescriptionsAreTheMeanOfTheirDirections) {
  const testing::TempDir folder;
  write_lines(folder / "v.csv", "name,x,y\nowl,10,0\nelk,3,4\nowl,0,1\n");
  const ClassVectors read = read_class_vectors(folder / "v.csv");
  EXPECT_THAT(read.classes, ElementsAre("owl", "elk"));
  EXPECT_TRUE(at::allclose(tensor_of(read.vectors), at::tensor({0.5F, 0.5F, 0.6F, 0.8F}).view({2, 2})));
}

TEST(ClassVectors, ThatAreNoneAreRefusedWithThePlace) {
  const testing::TempDir folder;
  const auto stated = [&](const char* file) { return message_of([&] { read_class_vectors(folder / file); }); };
  write_lines(folder / "word.csv", "name,x\nowl,1\nelk,big\n");
  EXPECT_THAT(stated("word.csv"), AllOf(HasSubstr("word.csv:3"), HasSubstr("'big' in the column 'x' is not a number")));
  write_lines(folder / "names.csv", "name\nowl\n");
  EXPECT_THAT(stated("names.csv"), HasSubstr("one for each number"));
  write_lines(folder / "zero.csv", "name,x\nowl,1\nelk,0\n");
  EXPECT_THAT(stated("zero.csv"), HasSubstr("the vector of class 'elk' is all zeros"));
  write_npz(folder / "nan.npz", {"owl"}, at::full({1, 2}, std::numeric_limits<float>::quiet_NaN()));
  EXPECT_THAT(stated("nan.npz"), HasSubstr("NaN"));
  write_npz(folder / "few.npz", {"owl"}, at::ones({2, 2}));
  EXPECT_THAT(stated("few.npz"), HasSubstr("2 vectors with 1 names"));
  write_npz(folder / "whole.npz", {"owl"}, at::ones({1, 2}, at::kLong));
  EXPECT_THAT(stated("whole.npz"), HasSubstr("expected real numbers"));
  NpzWriter writer(folder / "other.npz");
  writer.add("weights", array_of(at::ones({1, 2})));
  writer.close();
  EXPECT_THAT(stated("other.npz"), AllOf(HasSubstr("'vectors'"), HasSubstr("found weights")));
  EXPECT_THAT(stated("v.parquet"), HasSubstr(".npz, .npy (with --names) or .csv"));
}

AttributeTable no_attributes(const Names& classes) {
  AttributeTable table;
  table.classes = classes;
  table.association = array_of(at::zeros({static_cast<int64_t>(classes.size()), 0}));
  table.source = {{"kind", "embeddings"}};
  return table;
}

TEST(KnowledgeOfVectors, HasThemByNameAndNamesWhatDoesNotFit) {
  const testing::TempDir folder;
  write_lines(folder / "v.csv", "name,x,y\nowl,1,2\nelk,3,4\nyak,5,6\n");
  BuildOptions options;
  options.class_vectors = read_class_vectors(folder / "v.csv");
  options.class_vectors_file = folder / "v.csv";
  options.sides = ClassSides{{"elk", "cat"}, {"owl"}};
  const Knowledge knowledge = build_knowledge(no_attributes({"owl", "elk", "yak"}), options);
  EXPECT_THAT(knowledge.classes, ElementsAre("cat", "elk", "owl"));
  EXPECT_TRUE(
      tensor_of(knowledge.class_embedding).equal(at::tensor({0.0F, 0.0F, 3.0F, 4.0F, 1.0F, 2.0F}).view({3, 2})));
  EXPECT_EQ(knowledge.details.at("classes_without_vector"), nlohmann::json({"cat"}));
  EXPECT_EQ(knowledge.details.at("vectors_without_class"), nlohmann::json({"yak"}));
  EXPECT_EQ(knowledge.details.at("embedding").at("dim"), 2);
  write_knowledge(folder / "k.npz", knowledge, {}, knowledge.details);
  EXPECT_TRUE(tensor_of(read_knowledge(folder / "k.npz").class_embedding).equal(tensor_of(knowledge.class_embedding)));
}

TEST(ClassVectors, OfSeveralSourcesStandBesideOneAnother) {
  const std::vector<ClassVectors> sources = {{{"owl", "elk"}, Array::of(std::vector<float>{0, 2, 2, 0}, {2, 2})},
                                             {{"elk", "yak"}, Array::of(std::vector<float>{-5, 5}, {2, 1})}};
  const ClassVectors joined = join_class_vectors(sources, {"a.npz", "b.npz"});
  EXPECT_THAT(joined.classes, ElementsAre("owl", "elk", "yak"));
  EXPECT_THAT(joined.sources, ElementsAre(2, 1));
  EXPECT_TRUE(tensor_of(joined.vectors)
                  .equal(at::tensor({0.0F, 1.0F, 0.0F, 1.0F, 0.0F, -1.0F, 0.0F, 0.0F, 1.0F}).view({3, 3})));
  const ClassVectors one = join_class_vectors({sources.front()}, {"a.npz"});
  EXPECT_TRUE(tensor_of(one.vectors).equal(tensor_of(sources.front().vectors)));
  EXPECT_TRUE(one.sources.empty());
}

TEST(KnowledgeOfVectors, OfSeveralSourcesComesBackFromItsFile) {
  const testing::TempDir folder;
  write_lines(folder / "a.csv", "name,x,y\nowl,1,2\nelk,3,4\n");
  write_lines(folder / "b.csv", "name,x\nowl,1\nelk,-1\n");
  BuildOptions options;
  options.class_vectors =
      join_class_vectors({read_class_vectors(folder / "a.csv"), read_class_vectors(folder / "b.csv")},
                         {folder / "a.csv", folder / "b.csv"});
  options.class_vectors_file = folder / "a.csv";
  options.further_vectors_files = {folder / "b.csv"};
  Knowledge knowledge = build_knowledge(no_attributes({"owl", "elk"}), options);
  EXPECT_EQ(knowledge.details.at("embedding").at("sources").at(1).at("dim"), 1);
  write_knowledge(folder / "k.npz", knowledge, {}, knowledge.details);
  EXPECT_THAT(read_knowledge(folder / "k.npz").embedding_sources, ElementsAre(2, 1));
  EXPECT_THAT(message_of([&] { read_class_vectors(folder / "k.npz"); }), HasSubstr("several sources"));
  for (const std::vector<int64_t>& wrong : {std::vector<int64_t>{3}, {2, 2}, {4, -1}, {0, 3}}) {
    knowledge.embedding_sources = wrong;
    EXPECT_THAT(message_of([&] { check_knowledge(knowledge); }), HasSubstr("embedding_sources"));
  }
}

TEST(KnowledgeOfVectors, OfOtherClassesAloneIsRefused) {
  const testing::TempDir folder;
  write_lines(folder / "v.csv", "name,x\nowl,1\n");
  BuildOptions options;
  options.class_vectors = read_class_vectors(folder / "v.csv");
  options.class_vectors_file = folder / "v.csv";
  AttributeTable table = no_attributes({"cat", "dog"});
  EXPECT_THAT(message_of([&] { build_knowledge(table, options); }),
              HasSubstr("no vector for any of the 2 classes: they are called 'cat', ..., the vectors 'owl', ..."));
}

}  // namespace
}  // namespace protocom
