// Lists of images and classes in the forms that people have; a comment names the source of a form.
#include "datasets/image_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "datasets/image_dataset.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImageLists : public ::testing::Test {
 protected:
  fs::path put(const std::string& name, const std::string& text = "x") const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  /// Returns "image=class" of each row.
  std::vector<std::string> rows(const std::string& name, const std::string& text) const {
    std::vector<std::string> found;
    for (const ListedImage& one : read_image_list(put(name, text))) found.push_back(one.image + "=" + one.class_name);
    return found;
  }
  std::string error_of(const std::string& name, const std::string& text) const {
    return message_of([&] { read_image_list(put(name, text)); });
  }
  /// Returns the classes and images of the folder for a command that needs no split.
  std::vector<std::string> listed() const {
    ImageDatasetOptions options;
    options.split_use = SplitUse::kIgnored;
    const ImageDataset set = list_images(folder_.path(), options);
    std::vector<std::string> found;
    for (const ImageItem& one : set.items)
      found.push_back(one.id + "=" + set.class_names[static_cast<size_t>(one.label)]);
    return found;
  }

  TempDir folder_;
};

TEST_F(ImageLists, MayCallTheirColumnsInManyWaysInAnyOrderAndCapitals) {
  for (const char* header : {"image,label", "label,Image", "file_name,label", "Filename,Class", "image_path,species",
                             "id,breed", "image_id,label", "filepaths,labels", "Image,Id", "File Name;Category"}) {
    const bool swapped = std::string(header).rfind("label", 0) == 0;
    const char between = std::string(header).find(';') == std::string::npos ? ',' : ';';
    const std::string row = swapped ? std::string("cat,a.jpg") : std::string("a.jpg") + between + "cat";
    EXPECT_THAT(rows("list.csv", std::string(header) + "\n" + row + "\n"), ElementsAre("a.jpg=cat")) << header;
  }
}

TEST_F(ImageLists, AreRefusedWithTheColumnsThatWereExpected) {
  EXPECT_THAT(error_of("list.csv", "photo,when\na.jpg,2020\n"),
              AllOf(HasSubstr("photo, when"), HasSubstr("class, label")));
  EXPECT_THAT(error_of("list.csv", "image,label\na.jpg,\n"), HasSubstr("list.csv:2: a class without a name"));
  EXPECT_THAT(error_of("list.csv", "image,label\na.jpg,cat\na.jpg,dog\n"),
              AllOf(HasSubstr("list.csv:3"), HasSubstr("two classes, 'dog' here and 'cat'"), HasSubstr("list.csv:2")));
}

TEST_F(ImageLists, OfColumnsForTheClassesMayNotHaveOneNameTwice) {
  EXPECT_THAT(rows("list.csv", "image,cat,dog\na.jpg,0,1\n"), ElementsAre("a.jpg=dog"));
  EXPECT_THAT(error_of("list.csv", "image,a  dog,a dog\na.jpg,0,1\n"),
              HasSubstr("list.csv:1: the columns 'a  dog' and 'a dog' are the same class"));
}

// Each of these took a minute and more.
TEST_F(ImageLists, OfLongPathsTakeTimeInProportion) {
  std::string dots, folders;
  for (int i = 0; i < 700'000; ++i) dots += "./", folders += "a/";
  std::ofstream(folder_ / "x.jpg") << "x";
  const auto begin = std::chrono::steady_clock::now();
  ListedFiles files(folder_.path());
  EXPECT_TRUE(files.find(dots + "x.jpg") == folder_ / "x.jpg");
  EXPECT_TRUE(files.find(folders + "x.jpg") == folder_ / "x.jpg");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(ImageLists, AWorkbookIsNamedAsOne) {
  EXPECT_THAT(error_of("list.csv", std::string("PK\x03\x04\x14\0\x06\0", 8)),
              HasSubstr("save the sheet as \"CSV UTF-8\""));
}

// https://huggingface.co/docs/datasets/image_dataset: metadata.csv or metadata.jsonl with file_name.
TEST_F(ImageLists, JsonLinesOfHuggingFaceAreRead) {
  EXPECT_THAT(rows("metadata.jsonl",
                   "{\"file_name\": \"a.jpg\", \"label\": \"cat\"}\n{\"file_name\": \"b.jpg\", \"label\": 3}\n"),
              ElementsAre("a.jpg=cat", "b.jpg=3"));
  EXPECT_THAT(error_of("metadata.jsonl", "{\"text\": \"a\"}\n"), HasSubstr("metadata.jsonl:1: expected an object"));
}

// https://labelstud.io/guide/export: JSON and JSON-MIN of choices.
TEST_F(ImageLists, ChoicesOfLabelStudioAreRead) {
  EXPECT_THAT(rows("export.json", R"([{"id": 1, "data": {"image": "/data/upload/1/2af9cfc2-a.jpg"},
      "annotations": [{"result": [{"type": "choices", "value": {"choices": ["cat"]}}]}]},
      {"id": 2, "data": {"image": "b.jpg"}, "annotations": []}])"),
              ElementsAre("/data/upload/1/2af9cfc2-a.jpg=cat"));
  EXPECT_THAT(rows("min.json", R"([{"image": "a.jpg", "id": 7, "choice": "dog"}])"), ElementsAre("a.jpg=dog"));
}

// https://labelstud.io/guide/export#Label-Studio-JSON-format-of-annotated-tasks: was_cancelled is a skipped task,
// completed_by the annotator.
std::string task(const std::string& image, const std::string& annotations) {
  return R"({"id": 1, "data": {"image": ")" + image + R"("}, "annotations": [)" + annotations + "]}";
}

std::string annotation(const std::string& choice, const std::string& by, const std::string& question = "animal",
                       const std::string& cancelled = "false") {
  return R"({"completed_by": )" + by + R"(, "was_cancelled": )" + cancelled + R"(, "result": [{"from_name": ")" +
         question + R"(", "to_name": "image", "type": "choices", "value": {"choices": [")" + choice + R"("]}}]})";
}

TEST_F(ImageLists, TasksThatWereSkippedInLabelStudioAreLeftOutAndCounted) {
  const Logged log;
  EXPECT_THAT(
      rows("export.json",
           "[" + task("a.jpg", annotation("cat", "1")) + "," + task("b.jpg", annotation("cat", "1", "animal", "true")) +
               "," + task("c.jpg", annotation("cat", "1", "animal", "true") + "," + annotation("dog", "2")) + "]"),
      ElementsAre("a.jpg=cat", "c.jpg=dog"));
  EXPECT_THAT(log.text(), HasSubstr("ignoring skipped tasks: 1"));
}

TEST_F(ImageLists, AnnotatorsWhoDisagreeAreNamedUnlessItIsSaidWhoDecides) {
  const std::string text =
      "[" + task("a.jpg", annotation("cat", "1") + "," + annotation("cat", "2")) + "," +
      task("b.jpg", annotation("cat", "1") + "," + annotation("dog", R"({"id": 2, "email": "ann@x.org"})")) + "," +
      task("c.jpg", annotation("dog", "1") + "," + annotation("cat", "2") + "," + annotation("cat", "3")) + "]";
  const Logged log;
  EXPECT_THAT(rows("export.json", text), ElementsAre("a.jpg=cat"));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("disagree on 2 of 3 images"), HasSubstr("b.jpg, c.jpg"),
                                HasSubstr("--annotator majority")));
  const auto decided = [&](const std::string& annotator) {
    std::vector<std::string> found;
    for (const ListedImage& one : read_image_list(put("export.json", text), {"", annotator}))
      found.push_back(one.image + "=" + one.class_name);
    return found;
  };
  EXPECT_THAT(decided("majority"), ElementsAre("a.jpg=cat", "c.jpg=cat"));
  EXPECT_THAT(decided("1"), ElementsAre("a.jpg=cat", "b.jpg=cat", "c.jpg=dog"));
  EXPECT_THAT(decided("ann@x.org"), ElementsAre("b.jpg=dog"));
  EXPECT_THAT(message_of([&] { decided("7"); }), AllOf(HasSubstr("no annotator '7'"), HasSubstr("2 ann@x.org")));
}

TEST_F(ImageLists, OfSeveralQuestionsOneHasToBeNamed) {
  const std::string both = annotation("cat", "1") + "," + annotation("sunny", "1", "weather");
  put("a.jpg");
  const fs::path path = put("export.json", "[" + task("a.jpg", both) + "]");
  EXPECT_THAT(message_of([&] { read_image_list(path); }),
              AllOf(HasSubstr("several questions (animal, weather)"), HasSubstr("--question animal")));
  EXPECT_THROW(image_list_in(folder_.path(), {}), UndecidedList) << "the folder is not read as another thing then";
  EXPECT_EQ(read_image_list(path, {"weather", ""}).front().class_name, "sunny");
  EXPECT_EQ(read_image_list(path, {"animal", ""}).front().class_name, "cat");
  EXPECT_THAT(message_of([&] { read_image_list(path, {"sheep", ""}); }), HasSubstr("no question 'sheep'"));
}

// JSON-MIN and CSV have a row for each annotation.
TEST_F(ImageLists, RowsOfSeveralAnnotatorsAreOneImage) {
  const fs::path small = put("min.json", R"([
      {"image": "a.jpg", "id": 1, "animal": "cat", "weather": "sunny", "annotator": 1, "annotation_id": 1},
      {"image": "a.jpg", "id": 1, "animal": "dog", "weather": "sunny", "annotator": 2, "annotation_id": 2}])");
  const fs::path table = put("export.csv",
                             "annotation_id,annotator,id,image,animal,weather,lead_time\n1,1,1,a.jpg,cat,sunny,2\n"
                             "2,2,1,a.jpg,dog,sunny,2\n");
  for (const fs::path& path : {small, table}) {
    EXPECT_THAT(message_of([&] { read_image_list(path); }), HasSubstr("several questions (animal, weather)")) << path;
    EXPECT_THAT(message_of([&] { read_image_list(path, {"animal", ""}); }), HasSubstr("disagree on 1 of 1")) << path;
    EXPECT_EQ(read_image_list(path, {"animal", "2"}).front().class_name, "dog") << path;
    EXPECT_EQ(read_image_list(path, {"weather", ""}).front().class_name, "sunny") << path;
  }
}

// https://challenge.isic-archive.com/data/: ground truth of 2018 and 2019; Roboflow's export "Multi-label
// classification".
TEST_F(ImageLists, WithAColumnForEachClassAreReadWhereExactlyOneIsSet) {
  const Logged log;
  EXPECT_THAT(rows("truth.csv", "image,MEL,NV,UNK\na,1.0,0.0,0.0\nb,0.0,1.0,0.0\nc,1.0,1.0,0.0\nd,0.0,0.0,0.0\n"),
              ElementsAre("a=MEL", "b=NV"));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("ignoring images of several classes, 1: c"),
                                HasSubstr("ignoring images of no class, 1: d")));
  EXPECT_THAT(rows("_classes.csv", "filename, cat, dog\na.jpg, 1, 0\nb.jpg, 0, 1\n"),
              ElementsAre("a.jpg=cat", "b.jpg=dog"));
  EXPECT_THAT(message_of([&] { rows("flags.csv", "image,width,truncated\na.jpg,640,1\n"); }),
              HasSubstr("one of 0 and 1 for each class"));
}

TEST_F(ImageLists, FindFilesOfOtherCapitalsAndSuffixesWhereOneIsMeant) {
  for (const char* file : {"img_1.jpg", "Sub/IMG_2.jpeg", "x/Img_3.png", "y/img_3.png"}) put(file);
  ListedFiles files(folder_.path());
  EXPECT_EQ(files.find("IMG_1.JPG"), folder_ / "img_1.jpg");
  EXPECT_EQ(files.find("there/img_2.JPG"), folder_ / "Sub/IMG_2.jpeg");
  EXPECT_EQ(files.find("IMG_3.PNG"), std::nullopt) << "either may be meant";
  EXPECT_EQ(files.find("IMG_4.PNG"), std::nullopt);
}

// https://huggingface.co/docs/datasets/image_dataset: train/metadata.csv and test/metadata.csv beside their images;
// Kaggle's flat train and test.
TEST_F(ImageLists, OfFlatSplitFoldersAreReadEachWithItsOwnAndKeepTheSplits) {
  put("train/metadata.csv", "file_name,label\n1.jpg,cat\n2.jpg,dog\n");
  put("test/metadata.csv", "file_name,label\n1.jpg,eel\n");
  for (const char* file : {"train/1.jpg", "train/2.jpg", "test/1.jpg"}) put(file);
  EXPECT_THAT(listed(), ElementsAre("train/1.jpg=cat", "train/2.jpg=dog", "test/1.jpg=eel"));
  const ImageDataset set = list_images(folder_.path(), {});
  EXPECT_THAT(set.class_split, ElementsAre(Split::kBase, Split::kBase, Split::kNovel));
  EXPECT_EQ(set.skipped.total(), 0) << "images that a list names lie beside no class";
}

TEST_F(ImageLists, OfFlatSplitFoldersOneWithoutAListIsLeftOutAndCounted) {
  put("train/metadata.csv", "file_name,label\n1.jpg,cat\n2.jpg,dog\n");
  for (const char* file : {"train/1.jpg", "train/2.jpg", "test/1.jpg", "test/2.jpg"}) put(file);
  const Logged log;
  EXPECT_THAT(listed(), ElementsAre("train/1.jpg=cat", "train/2.jpg=dog"));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("test: ignoring images without a class: 2")));
}

TEST_F(ImageLists, OfFlatSplitFoldersWithTheSameClassesAreTwoSplitsOfOneClass) {
  for (const char* split : {"train", "test"}) {
    put(std::string(split) + "/metadata.csv", "file_name,label\n1.jpg,cat\n");
    put(std::string(split) + "/1.jpg");
  }
  EXPECT_THAT(message_of([&] { listed(); }),
              AllOf(HasSubstr("'cat' is in two splits"), HasSubstr("give one of the two")));
}

TEST_F(ImageLists, AreReadSeveralTimesAndWarnOnce) {
  put("labels.csv", "image,cat,dog\n1.jpg,1,0\n2.jpg,1,1\n");
  for (const char* file : {"1.jpg", "2.jpg"}) put(file);
  const Logged log;
  EXPECT_THAT(listed(), ElementsAre("1.jpg=cat"));
  const std::string said = log.text(), words = "ignoring images of several classes";
  ASSERT_THAT(said, HasSubstr(words));
  EXPECT_EQ(said.find(words), said.rfind(words)) << said;
}

TEST_F(ImageLists, OneFileWrittenInTwoWaysHasOneClass) {
  for (const char* file : {"1.jpg", "2.jpg"}) put(file);
  for (const char* again : {"./1.jpg", ".\\1.jpg", "1.JPG"}) {
    const std::string rows = "image,class\n1.jpg,cat\n2.jpg,dog\n" + std::string(again);
    put("labels.csv", rows + ",cat\n");
    EXPECT_THAT(listed(), Contains("1.jpg=cat")) << again;
    put("labels.csv", rows + ",dog\n");
    EXPECT_THAT(message_of([&] { listed(); }), HasSubstr("labels.csv:4: the image")) << again;
  }
}

// Otherwise the folders beside such a list would be its classes: "images".
TEST_F(ImageLists, WithABrokenRowAreNotPassedOverForTheFoldersBesideThem) {
  for (const char* file : {"images/1.jpg", "images/2.jpg"}) put(file);
  for (const auto& [rows, words] :
       {std::pair("1.jpg,cat\n2.jpg,dog,brown\n", "labels.csv:3: 3 cells, the header has 2"),
        {"1.jpg,cat\n2.jpg,\"dog\n", "labels.csv:3: a quoted cell has no closing quote"},
        {"1.jpg,cat\n2.jpg,\n", "labels.csv:3: a class without a name"},
        {"1.jpg,cat\n1.jpg,dog\n", "labels.csv:3: the image 1.jpg has two classes"}}) {
    put("labels.csv", "\"Image\",\"Class\"\r\n" + std::string(rows));
    EXPECT_THAT(message_of([&] { listed(); }), HasSubstr(words));
  }
  put("labels.csv", "image,x,y,class\n1.jpg,1,2,cat\n1.jpg,3,4,\n");
  EXPECT_THAT(listed(), ElementsAre("images/1.jpg=images", "images/2.jpg=images")) << "boxes are no list";
  put("labels.csv", "image,class\nimages/1.jpg,images\n2.jpg\n");
  EXPECT_THAT(listed(), ElementsAre("images/1.jpg=images", "images/2.jpg=images"))
      << "the folder is one of its classes";
}

// https://cocodataset.org/#format-data
TEST_F(ImageLists, CocoWithOneCategoryAnImageIsReadAndTheRestCounted) {
  const Logged log;
  EXPECT_THAT(rows("coco.json", R"({"images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "b.jpg"},
      {"id": 3, "file_name": "c.jpg"}], "categories": [{"id": 5, "name": "cat"}, {"id": 6, "name": "dog"}],
      "annotations": [{"image_id": 1, "category_id": 5}, {"image_id": 1, "category_id": 5},
      {"image_id": 2, "category_id": 5}, {"image_id": 2, "category_id": 6}]})"),
              ElementsAre("a.jpg=cat"));
  EXPECT_THAT(log.text(), HasSubstr("several categories and of none: 1 and 1"));
  EXPECT_THAT(
      rows("traps.json", R"({"images": [{"id": "a/1", "file_name": "a.jpg"}], "categories": [{"id": 3, "name": "fox"}],
      "annotations": [{"image_id": "a/1", "category_id": 3}]})"),
      ElementsAre("a.jpg=fox"))
      << "texts as ids, as in lists of camera traps";
  EXPECT_THAT(
      error_of("odd.json", R"({"images": [{"id": 1.5, "file_name": "a.jpg"}], "categories": [], "annotations": []})"),
      AllOf(HasSubstr("odd.json"), HasSubstr("id: expected a whole number or a text")));
}

// CVAT's developers give the same advice (cvat-ai/cvat issue 6488).
TEST_F(ImageLists, OtherJsonAndXmlAreRefusedWithWhatIsRead) {
  EXPECT_THAT(error_of("a.json", "{\"shapes\": []}"), HasSubstr("COCO's JSON"));
  EXPECT_THAT(error_of("a.json", "{\"images\": [1], \"annotations\": [], \"categories\": []}"), HasSubstr("a.json"));
  EXPECT_THAT(error_of("annotations.xml", "<annotations/>"), HasSubstr("export the annotations as ImageNet"));
}

// kaggle.com/c/dog-breed-identification: labels.csv "id,breed" beside train/ with <id>.jpg; test/ has no labels. Names
// made of digits keep their leading zeros, which are lost when they are read as numbers (fastai/fastai issue 1008).
TEST_F(ImageLists, AFlatFolderIsReadByItsListEvenWithoutSuffixes) {
  put("labels.csv", "id,breed\n000bec,boston_bull\n001513,dingo\n");
  for (const char* file : {"train/000bec.jpg", "train/001513.jpg", "test/ffff.jpg"}) put(file);
  EXPECT_THAT(listed(), ElementsAre("train/000bec.jpg=boston_bull", "train/001513.jpg=dingo"));
}

// kaggle.com/c/plant-pathology-2021: images/ with train.csv and a test.csv without labels, named like miniImageNet's
// lists.
TEST_F(ImageLists, ATrainCsvWithoutValCsvIsNoMiniImageNet) {
  put("train.csv", "image,labels\na.jpg,rust\nb.jpg,scab\n");
  put("test.csv", "image\nc.jpg\n");
  for (const char* file : {"images/a.jpg", "images/b.jpg", "images/c.jpg"}) put(file);
  EXPECT_THAT(listed(), ElementsAre("images/a.jpg=rust", "images/b.jpg=scab"));
}

TEST_F(ImageLists, WhatAListNamesAndIsNotThereIsCounted) {
  put("labels.csv", "image,label\na.jpg,cat\nnone.jpg,cat\n");
  put("a.jpg");
  const Logged log;
  EXPECT_THAT(listed(), ElementsAre("a.jpg=cat"));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("ignoring 1 of 2 images, which are missing"), HasSubstr("none.jpg")));
}

// Label Studio exports paths of its own server, and asks for files by ?d= (HumanSignal/label-studio issues 878 and
// 8605).
TEST_F(ImageLists, PathsOfAnotherMachineAreFoundByTheirEnds) {
  put("labels.csv",
      "image,label\nC:\\photos\\set\\cat\\1.jpg,cat\n/home/ann/set/dog/1.jpg,dog\n/data/upload/3/2af9cfc2-own.jpg,cat\n"
      "/data/local-files/?d=set/far.jpg,dog\n");
  for (const char* file : {"pics/cat/1.jpg", "pics/dog/1.jpg", "pics/own.jpg", "set/far.jpg"}) put(file);
  ListedFiles files(folder_.path());
  EXPECT_EQ(files.find("C:\\photos\\set\\cat\\1.jpg"), folder_ / "pics/cat/1.jpg");
  EXPECT_EQ(files.find("/home/ann/set/dog/1.jpg"), folder_ / "pics/dog/1.jpg");
  EXPECT_EQ(files.find("/data/upload/3/2af9cfc2-own.jpg"), folder_ / "pics/own.jpg");
  EXPECT_EQ(files.find("/data/local-files/?d=set/far.jpg"), folder_ / "set/far.jpg");
  EXPECT_EQ(files.find("1.jpg"), std::nullopt) << "two files have this end";
}

TEST_F(ImageLists, AMissingPhotoIsNotAnotherFoldersPhotoOfThatName) {
  for (const char* file : {"A/1.jpg", "C/2.jpg"}) put(file);
  using Found = std::vector<std::optional<fs::path>>;
  EXPECT_EQ(ListedFiles(folder_.path()).find_all({"B/1.jpg", "C/2.jpg"}), (Found{std::nullopt, folder_ / "C/2.jpg"}));
  EXPECT_EQ(ListedFiles(folder_.path()).find_all({"/x/A/1.jpg", "/x/B/1.jpg", "/x/C/2.jpg"}),
            (Found{std::nullopt, std::nullopt, folder_ / "C/2.jpg"}))
      << "of two rows it may be either";
  EXPECT_EQ(ListedFiles(folder_.path()).find_all({"/x/A/1.jpg", "/x/C/2.jpg", "/x/A/1.jpg"}),
            (Found{folder_ / "A/1.jpg", folder_ / "C/2.jpg", folder_ / "A/1.jpg"}));
  EXPECT_EQ(ListedFiles(folder_.path()).find_all({"D:/A/1.jpg", "", "D:/C/2.jpg", "D:/gone.jpg"}),
            (Found{folder_ / "A/1.jpg", std::nullopt, folder_ / "C/2.jpg", std::nullopt}));
  EXPECT_EQ(ListedFiles(folder_.path()).find_all({"A/1.JPG", "C/2.jpg"}),
            (Found{folder_ / "A/1.jpg", folder_ / "C/2.jpg"}))
      << "in other capitals it is in its folder still";
}

// Label Studio writes paths as addresses: "Capture_d%C3%A9cran.png" for "Capture_décran.png"
// (HumanSignal/label-studio issue 1266), which its own converter did not find (HumanSignal/label-studio-converter pull
// request 172), and six digits before uploads in old versions (HumanSignal/label-studio issue 568).
TEST_F(ImageLists, PathsThatAreWrittenAsAddressesAreFound) {
  for (const char* file : {"Capture_d\xc3\xa9"
                           "cran.png",
                           "my photo.jpg", "50%20.jpg", "IMG_7224.jpg"})
    put(file);
  ListedFiles files(folder_.path());
  EXPECT_EQ(files.find("/data/upload/3/2af9cfc2-Capture_d%C3%A9cran.png"), folder_ /
                                                                               "Capture_d\xc3\xa9"
                                                                               "cran.png");
  EXPECT_EQ(files.find("http://localhost:8080/data/local-files/?d=set/my%20photo.jpg"), folder_ / "my photo.jpg");
  EXPECT_EQ(files.find("50%20.jpg"), folder_ / "50%20.jpg") << "as it is written, where that is there";
  EXPECT_EQ(files.find("/data/upload/f78f75-IMG_7224.jpg"), folder_ / "IMG_7224.jpg");
  EXPECT_EQ(files.find("nothing%2.jpg"), std::nullopt);
  EXPECT_EQ(files.find("a%00.jpg"), std::nullopt);
}

TEST_F(ImageLists, DoNotReplaceFoldersOfTheSameClasses) {
  put("birds.csv", "filepaths,labels\ntrain/ALBATROSS/1.jpg,ALBATROSS\n");
  put("train/ALBATROSS/1.jpg");
  EXPECT_EQ(image_list_in(folder_.path(), {}), std::nullopt);
}

TEST_F(ImageLists, OtherTablesOfAFolderAreNoLists) {
  put("attributes.csv", "id,class,attribute\n1,cat,tail\n");
  put("split.csv", "class,split\ncat,base\n");
  put("answers.csv", "image,rank,class,probability\ncat/1.jpg,1,dog,0.5\n");
  put("cat/1.jpg");
  put("cat/2.jpg");
  EXPECT_EQ(image_list_in(folder_.path(), {}), std::nullopt);
  EXPECT_THAT(listed(), ElementsAre("cat/1.jpg=cat", "cat/2.jpg=cat"));
}

}  // namespace
}  // namespace protocom::testing
