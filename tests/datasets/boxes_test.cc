// Files of boxes as written by other programs; a comment names the description that a layout follows.
#include "datasets/boxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "datasets/boxed_dataset.h"
#include "datasets/packed_images.h"
#include "images/image.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class BoxFiles : public ::testing::Test {
 protected:
  fs::path put(const std::string& name, const std::string& text = "x") const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  /// Returns "image kind x y width height confidence" of each box.
  static std::vector<std::string> lines(const BoxChoice& choice) {
    std::vector<std::string> found;
    for (const PhotoBox& one : read_boxes(choice).boxes)
      found.push_back(fmt::format("{} {} {:.4g} {:.4g} {:.4g} {:.4g} {:.2f}{}", one.image, one.kind, one.box.x,
                                  one.box.y, one.box.width, one.box.height, one.confidence,
                                  one.box.relative ? " of 1" : ""));
    return found;
  }
  std::string error_of(const BoxChoice& choice) const {
    return message_of([&] { read_boxes(choice); });
  }

  /// Writes MegaDetector's batch output format, version 1.3.
  fs::path megadetector() const {
    return put("md.json", R"({"info": {"format_version": "1.3"},
        "detection_categories": {"1": "animal", "2": "person", "3": "vehicle"},
        "images": [
          {"file": "site1/a.jpg", "detections": [
            {"category": "1", "conf": 0.926, "bbox": [0.0, 0.2762, 0.1539, 0.2825]},
            {"category": "2", "conf": 0.8, "bbox": [0.5, 0.5, 0.2, 0.2]},
            {"category": "1", "conf": 0.05, "bbox": [0.1, 0.1, 0.1, 0.1]}]},
          {"file": "site2/a.jpg", "detections": []},
          {"file": "site2/broken.jpg", "detections": null, "failure": "Failure image access"}]})");
  }

  static std::string voc(const std::string& image) {
    return "<?xml version=\"1.0\"?><annotation><folder>VOC</folder><filename>" + image +
           "</filename><size><width>500</width><height>375</height><depth>3</depth></size><object><name>bird</name>"
           "<pose>Left</pose><bndbox><xmin>10</xmin><ymin>20</ymin><xmax>100</xmax><ymax>80</ymax></bndbox>"
           "<part><name>head</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox></part>"
           "</object></annotation>\n";
  }

  TempDir folder_;
};

TEST_F(BoxFiles, OfMegaDetectorAreSharesWithKindAndConfidence) {
  EXPECT_THAT(lines({megadetector()}), ElementsAre("site1/a.jpg animal 0 0.2762 0.1539 0.2825 0.93 of 1",
                                                   "site1/a.jpg person 0.5 0.5 0.2 0.2 0.80 of 1"));
  EXPECT_THAT(lines({megadetector(), 0, {"Animal"}}), ElementsAre("site1/a.jpg animal 0 0.2762 0.1539 0.2825 0.93 of 1",
                                                                  "site1/a.jpg animal 0.1 0.1 0.1 0.1 0.05 of 1"));
  EXPECT_FALSE(read_boxes({megadetector()}).kinds_are_classes) << "a detector's kinds";
  EXPECT_THAT(error_of({megadetector(), 0.2, {"animals"}}),
              AllOf(HasSubstr("no box of the kind 'animals'"), HasSubstr("animal, person")));
  EXPECT_THAT(error_of({megadetector(), 0.99}), HasSubstr("3 are of a confidence below 0.99"));
  EXPECT_THROW(read_boxes({megadetector(), 1.5}), UsageError);
}

// https://cocodataset.org/#format-data, as pycocotools reads it.
TEST_F(BoxFiles, HaveTheMarginThatWasChosen) {
  BoxChoice choice{megadetector()};
  choice.margin = 0.3;
  EXPECT_THAT(crop_photos({"site1/a.jpg"}, read_boxes(choice), choice.file).at(0).name.string(),
              HasSubstr("&margin=0.3"));
  choice.margin = 1.5;
  EXPECT_THAT(error_of(choice), HasSubstr("box margin: expected a number from 0 to 1, found 1.5"));
}

TEST_F(BoxFiles, OfCocoArePixelsWithCategories) {
  const fs::path path = put("coco.json", R"({"images": [{"id": 7, "file_name": "a.jpg", "width": 640, "height": 480}],
      "categories": [{"id": 18, "name": "dog"}, {"id": 17, "name": "cat"}],
      "annotations": [{"id": 1, "image_id": 7, "category_id": 18, "bbox": [10.5, 20, 100, 50], "area": 5000, "iscrowd": 0},
                      {"id": 2, "image_id": 7, "category_id": 17, "bbox": [640, 0, 10, 10]},
                      {"id": 3, "image_id": 8, "category_id": 17, "bbox": [0, 0, 10, 10]},
                      {"id": 4, "image_id": 7, "category_id": 17}]})");
  const Logged log;
  EXPECT_THAT(lines({path}), ElementsAre("a.jpg dog 10.5 20 100 50 1.00"));
  EXPECT_TRUE(read_boxes({path}).kinds_are_classes);
  EXPECT_THAT(log.text(), AllOf(HasSubstr("annotations[1]: a box outside the image, which has 640 x 480"),
                                HasSubstr("annotations[2]: no image has its image_id"),
                                HasSubstr("annotations[3]: bbox is not four numbers"),
                                HasSubstr("ignoring boxes that cannot be cut out, 3")));
}

TEST_F(BoxFiles, OfACsvArePixelsOrSharesByCornersOrSizes) {
  EXPECT_THAT(lines({put("a.csv", "image,x,y,width,height,class\na.jpg,1,2,30,40,cat\n")}),
              ElementsAre("a.jpg cat 1 2 30 40 1.00"));
  EXPECT_THAT(lines({put("b.csv", "filename;xmin;ymin;xmax;ymax;conf\na.jpg;0.1;0.2;0.5;1;0.9\n")}),
              ElementsAre("a.jpg  0.1 0.2 0.4 0.8 0.90 of 1"));
  EXPECT_THAT(lines({put("e.csv", "\xEF\xBB\xBFimage;x;y;width;height\r\na.jpg;\"0,1\";0,2;0,4;0,8\r\n")}),
              ElementsAre("a.jpg  0.1 0.2 0.4 0.8 1.00 of 1"));
  // TensorFlow's table states the picture's size beside the corners.
  EXPECT_THAT(
      lines({put("c.csv", "filename,width,height,class,xmin,ymin,xmax,ymax\na.jpg,640,480,cat,10,20,50,100\n")}),
      ElementsAre("a.jpg cat 10 20 40 80 1.00"));
  EXPECT_THAT(error_of({put("d.csv", "image,label\na.jpg,cat\n")}), HasSubstr("expected image,x,y,width,height"));
}

TEST_F(BoxFiles, ThatAreNoBoxesAreLeftOutByRowAndCounted) {
  const Logged log;
  EXPECT_THAT(lines({put("a.csv",
                         "image,x,y,width,height\na.jpg,1,2,0,40\na.jpg,nan,2,3,4\na.jpg,1,2,3,x\n"
                         "a.jpg,-9,2,3,4\n,1,2,3,4\na.jpg,5,6,7,8\n")}),
              ElementsAre("a.jpg  5 6 7 8 1.00"));
  for (const char* said :
       {"ignoring boxes that cannot be cut out, 5", "a.csv:2: a box of no size, 0 x 40", "a.csv:3: a box with a number",
        "a.csv:4: a box with a number", "a.csv:5: a box outside", "a.csv:6: a box of no image"})
    EXPECT_THAT(log.text(), HasSubstr(said));
  EXPECT_THAT(error_of({put("b.csv", "image,x,y,width,height\na.jpg,1,2,0,40\n")}), HasSubstr("1 cannot be cut out"));
  // A comma before three digits may separate thousands.
  EXPECT_THAT(error_of({put("c.csv", "image;x;y;width;height\na.jpg;1,200;2;30;40\n")}),
              HasSubstr("1 cannot be cut out"));
  EXPECT_THAT(lines({put("d.csv", "image;x;y;width;height\na.jpg;0,125;0,2;0,4;0,8\n")}),
              ElementsAre("a.jpg  0.125 0.2 0.4 0.8 1.00 of 1"));
}

TEST_F(BoxFiles, InSharesAmongPixelsAreLeftOutByRowAndCounted) {
  const Logged log;
  EXPECT_THAT(lines({put("a.csv",
                         "image,x,y,width,height\na.jpg,5,6,70,80\na.jpg,0.5,0.5,0.9,0.9\nb.jpg,0.1,0,1,0.4\n"
                         "b.jpg,0.5,0.5,1,20\n")}),
              ElementsAre("a.jpg  5 6 70 80 1.00", "b.jpg  0.5 0.5 1 20 1.00"));
  EXPECT_THAT(lines({put("b.csv", "image,xmin,ymin,xmax,ymax\na.jpg,5,6,70,80\na.jpg,0.1,0.2,0.9,0.8\n")}),
              ElementsAre("a.jpg  5 6 65 74 1.00"));
  EXPECT_THAT(log.text(),
              AllOf(HasSubstr("a.csv: ignoring boxes that cannot be cut out, 2: "), HasSubstr("a.csv:3: a box of"),
                    HasSubstr("a.csv:4: a box of"), HasSubstr("b.csv:3: a box of at most one pixel"),
                    HasSubstr("put shares and pixels into separate files")));
}

// https://docs.ultralytics.com/datasets/detect/: class, centre and size, in shares.
TEST_F(BoxFiles, OfYoloHaveTheirNamesInDataYaml) {
  put("set/labels/train/a.txt", "1 0.5 0.5 0.2 0.4\n0 0.1 0.1 0.1 0.1\n7 0.5 0.5 0.1 0.1\n");
  for (const char* names : {"names: ['cat', dog]\n", "path: x\nnames:\n  0: cat  # the first\n  1: dog\nnc: 2\n",
                            "names:\n- cat\n- \"dog\"\ntrain: images\n", "names: {1: 'dog', 0: cat}\n",
                            "names: [\n  'cat',\n  \"dog\",\n]\nnc: 2\n", "names:\n  # two\n  - cat\n  - dog\n",
                            "names:\n  1: dog\n  0: cat\n"}) {
    put("set/data.yaml", names);
    const Logged log;
    EXPECT_THAT(lines({folder_ / "set"}), ElementsAre("images/train/a dog 0.4 0.3 0.2 0.4 1.00 of 1",
                                                      "images/train/a cat 0.05 0.05 0.1 0.1 1.00 of 1"))
        << names;
    EXPECT_THAT(log.text(), HasSubstr("a.txt:3: a class without a name"));
  }
  put("set/labels/train/a.txt", "1 0.1 0.1 0.5 0.2 0.3 0.9\n0 0.1 0.1\n");
  const Logged log;
  EXPECT_THAT(lines({folder_ / "set/labels"}), ElementsAre("images/train/a dog 0.1 0.1 0.4 0.8 1.00 of 1"))
      << "an outline";
  EXPECT_THAT(log.text(), HasSubstr("a.txt:2: expected class, centre and size, or class and corners"));
  put("set/labels/train/a.txt", "1 0.5 0.5 0.2 0.4 0.9 7\n");
  EXPECT_THAT(lines({folder_ / "set/labels"}), ElementsAre("images/train/a dog 0.4 0.3 0.2 0.4 0.90 of 1"))
      << "of track number 7";
  put("set/data.yaml", "names: ['Type #1', 'King''s, fisher # 2']  # two\n");
  put("set/labels/train/a.txt", "0 0.5 0.5 0.2 0.4\n1 0.2 0.5 0.2 0.4\n");
  EXPECT_THAT(lines({folder_ / "set"}), ElementsAre("images/train/a Type #1 0.4 0.3 0.2 0.4 1.00 of 1",
                                                    "images/train/a King's, fisher # 2 0.1 0.3 0.2 0.4 1.00 of 1"));
  EXPECT_THAT(error_of({put("empty/x.bin").parent_path()}), HasSubstr("labels/*.txt"));
}

TEST_F(BoxFiles, OfYoloAreReadFromTheirDataYamlToo) {
  put("set/train/labels/a.txt", "1 0.5 0.5 0.2 0.4\n");
  put("set/data.yaml", "names: [eel, fox]\n");
  for (const char* name : {"set/data.yaml", "set/birds.YML"})
    EXPECT_THAT(lines({put(name, "train: train/images\nnames: [cat, dog]\n")}),
                ElementsAre("train/images/a dog 0.4 0.3 0.2 0.4 1.00 of 1"))
        << name;
  EXPECT_THAT(error_of({put("other/config.yaml", "names: [cat]\n")}), HasSubstr("other has no boxes: expected YOLO's"));
}

TEST_F(BoxFiles, OfYoloInAFolderOfAnotherNameAreRefusedWithTheNameItNeeds) {
  put("set/annots/a.txt", "\n1 0.5 0.5 0.2 0.4\n");
  put("set/classes.txt", "cat\ndog\n");
  for (const char* name : {"set", "set/annots"})
    EXPECT_THAT(error_of({folder_ / name}),
                AllOf(HasSubstr("folder with the name labels: rename the folder annots"), HasSubstr("annots/a.txt")))
        << name;
  put("notes/a.txt", "five words are no box\n");
  EXPECT_THAT(error_of({folder_ / "notes"}), HasSubstr("notes has no boxes: expected YOLO's labels/*.txt"));
}

TEST_F(BoxFiles, BelongToThePhotosWhosePathsEndAsTheyWriteThem) {
  const std::vector<fs::path> photos = {"/p/site1/a.jpg", "/p/site2/a.jpg"};
  const auto crops = [&](const std::string& names) {
    const fs::path path = put("a.csv", "image,x,y,width,height\n" + names);
    std::vector<std::string> found;
    for (const Crop& one : crop_photos(photos, read_boxes({path}), path)) found.push_back(one.name.string());
    return found;
  };
  {
    const Logged log;
    EXPECT_THAT(crops("site1/a.jpg,1,2,3,4\nsite3/a.jpg,1,2,3,4\n"), ElementsAre("/p/site1/a.jpg#xywh=1,2,3,4"));
    EXPECT_THAT(log.text(), AllOf(HasSubstr("1 of 2 photos with boxes are not among those given"),
                                  HasSubstr("site3/a.jpg"), HasSubstr("1 of 2 photos, which have no box")));
  }
  {
    const Logged log;
    crops("site1/a.jpg,1,2,3,4\nsite2/a.jpg,1,2,3,4\nsite3/a.jpg,1,2,3,4\n");
    EXPECT_THAT(log.text(), AllOf(HasSubstr("1 of 3 photos with boxes are not among those given: site3/a.jpg"),
                                  HasSubstr("info"), Not(HasSubstr("warning"))))
        << "the boxes of a larger collection";
  }
  EXPECT_THAT(crops("C:\\cams\\site1\\a.jpg,1,2,3,4\nC:\\cams\\site2\\a.jpg,5,6,7,8\n"),
              ElementsAre("/p/site1/a.jpg#xywh=1,2,3,4", "/p/site2/a.jpg#xywh=5,6,7,8"));
  EXPECT_THAT(message_of([&] { crops("a.jpg,1,2,3,4\n"); }), HasSubstr("has no box for any of the 2 images"))
      << "either photo may be meant";
  const fs::path path = put("nested.csv", "image,x,y,width,height\na.jpg,1,2,3,4\nsub/a.jpg,5,6,7,8\n");
  const auto nested = [&](const std::vector<fs::path>& given) {
    std::vector<std::string> found;
    for (const Crop& one : crop_photos(given, read_boxes({path}), path)) found.push_back(one.name.string());
    return found;
  };
  EXPECT_THAT(nested({"/p/sub/a.jpg"}), ElementsAre("/p/sub/a.jpg#xywh=5,6,7,8")) << "the other photo is not given";
  EXPECT_THAT(nested({"/p/a.jpg", "/p/sub/a.jpg"}), ElementsAre("/p/a.jpg#xywh=1,2,3,4", "/p/sub/a.jpg#xywh=5,6,7,8"));
}

// MegaDetector lists empty photos too: one that it does not list, or could not read, may show an animal.
TEST_F(BoxFiles, TellEmptyPhotosFromThoseThatTheDetectorDidNotSee) {
  const auto logged = [&](const std::vector<fs::path>& photos) {
    const Logged log;
    EXPECT_EQ(crop_photos(photos, read_boxes({megadetector()}), "md.json").size(), 2U);
    return log.text();
  };
  EXPECT_THAT(logged({"/p/site1/a.jpg", "/p/site2/a.jpg", "/p/site2/broken.jpg"}),
              AllOf(HasSubstr("could not read have no box and need not be empty, 1: site2/broken.jpg"),
                    HasSubstr("2 of 3 photos, which have no box"), Not(HasSubstr("does not list"))));
  EXPECT_THAT(logged({"/p/site1/a.jpg", "/p/site3/a.jpg"}),
              AllOf(HasSubstr("warning"), HasSubstr("1 of 2 photos, which it does not list: /p/site3/a.jpg"),
                    Not(HasSubstr("which have no box:"))));
}

TEST_F(BoxFiles, MakeADatasetOfTheirClassesOrOfTheFolders) {
  const Image image{8, 8, std::vector<uint8_t>(192, 90)};
  for (const char* name : {"cat/1.png", "cat/2.png", "dog/1.png"}) put(name, encode_png(image));
  const fs::path shares = put("md.json", R"({"detection_categories": {"1": "animal"}, "images": [
      {"file": "cat/1.png", "detections": [{"category": "1", "conf": 0.9, "bbox": [0, 0, 0.5, 0.5]},
                                           {"category": "1", "conf": 0.9, "bbox": [0.5, 0.5, 0.5, 0.5]}]},
      {"file": "dog/1.png", "detections": [{"category": "1", "conf": 0.9, "bbox": [0, 0, 1, 1]}]}]})");
  const TempDir elsewhere;  // beside the photos it would be a list of their classes
  const fs::path classes = elsewhere / "boxes.csv";
  std::ofstream(classes) << "image,x,y,width,height,class\ncat/1.png,0,0,4,4,eel\ndog/1.png,0,0,8,8,fox\n";
  ImageDatasetOptions options;
  options.split_use = SplitUse::kIgnored;
  const auto listed = [&](const fs::path& file) {
    const ImageDataset set = list_boxed_images(folder_.path(), options, {file});
    std::vector<std::string> found;
    for (const ImageItem& one : set.items)
      found.push_back(one.id + "=" + set.class_names[static_cast<size_t>(one.label)]);
    return found;
  };
  EXPECT_THAT(listed(shares),
              ElementsAre("cat/1.png#xywh=percent:0,0,50,50=cat", "cat/1.png#xywh=percent:50,50,50,50=cat",
                          "dog/1.png#xywh=percent:0,0,100,100=dog"));
  EXPECT_THAT(listed(classes), ElementsAre("cat/1.png#xywh=0,0,4,4=eel", "dog/1.png#xywh=0,0,8,8=fox"));
}

TEST_F(BoxFiles, OutsideTheirPhotosAreNamedByRowWhenTheyArePacked) {
  put("cat/1.png", encode_png(Image{8, 8, std::vector<uint8_t>(192, 90)}));
  const TempDir elsewhere;
  const fs::path file = elsewhere / "boxes.csv";
  std::ofstream(file) << "image,x,y,width,height,class\ncat/1.png,0,0,4,4,eel\ncat/1.png,50,0,9,9,eel\n";
  ImageDatasetOptions options;
  options.split_use = SplitUse::kIgnored;
  const Logged log;
  pack_images(list_boxed_images(folder_.path(), options, {file}), {}, Progress::none());
  EXPECT_THAT(log.text(), AllOf(HasSubstr("boxes.csv:3: "), HasSubstr("cat/1.png#xywh=50,0,9,9: a box outside")));
}

TEST_F(BoxFiles, BesidePhotosSayTheClassesInPlaceOfTheFolders) {
  const std::string png = encode_png({8, 8, std::vector<uint8_t>(192, 90)});
  ImageDatasetOptions options;
  options.split_use = SplitUse::kIgnored;
  const auto classes = [&](const char* under) { return list_images(folder_ / under, options).class_names; };
  put("yolo/images/a.png", png), put("yolo/labels/a.txt", "0 0.5 0.5 1 1\n1 0.2 0.2 0.1 0.1\n");
  put("yolo/data.yaml", "names: [cat, dog]\n");
  put("voc/JPEGImages/a.png", png), put("voc/Annotations/a.xml", voc("a.png"));
  put("coco/train2017/a.png", png), put("coco/annotations/captions_train2017.json", "{}");
  put("coco/annotations/instances_train2017.json", R"({"images": [{"id": 1, "file_name": "a.png"}],
      "categories": [{"id": 1, "name": "eel"}], "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 4, 4]}]})");
  EXPECT_THAT(classes("yolo"), ElementsAre("cat", "dog"));
  EXPECT_THAT(classes("voc"), ElementsAre("bird"));
  EXPECT_THAT(classes("coco"), ElementsAre("eel"));
  put("coco/annotations/instances_val2017.json", "{}");
  EXPECT_THAT(message_of([&] { classes("coco"); }), HasSubstr("several lists of objects"));
  put("splits/train/images/a.png", png), put("splits/train/labels/a.txt", "1 0.5 0.5 1 1\n");
  put("splits/test/images/b.png", png), put("splits/test/labels/b.txt", "1 0.5 0.5 1 1\n");
  put("splits/data.yaml", "names: [cat, dog]\n");
  EXPECT_THAT(message_of([&] { classes("splits"); }), HasSubstr("give one of them"));
  EXPECT_THAT(classes("splits/train"), ElementsAre("dog")) << "the names lie beside the splits";
}

// devkit_doc.html of VOC2012, section 3.2.
TEST_F(BoxFiles, OfPascalVocAreTheCornersOfItsObjects) {
  EXPECT_THAT(lines({put("Annotations/a.xml", voc("2007_1.jpg"))}), ElementsAre("2007_1.jpg bird 10 20 90 60 1.00"));
  put("Annotations/b.xml", voc(""));
  EXPECT_THAT(lines({folder_ / "Annotations"}),
              ElementsAre("2007_1.jpg bird 10 20 90 60 1.00", "b bird 10 20 90 60 1.00"));
  EXPECT_TRUE(read_boxes({folder_ / "Annotations"}).kinds_are_classes);
  put("Annotations/c.xml",
      "<annotation><size><width>50</width></size><object><name>bird</name><bndbox>"
      "<xmin>60</xmin><ymin>1</ymin><xmax>70</xmax><ymax>9</ymax></bndbox></object></annotation>");
  const Logged log;
  EXPECT_THAT(lines({folder_ / "Annotations"}), ::testing::SizeIs(2));
  EXPECT_THAT(log.text(), HasSubstr("c.xml: object 1: a box outside the image"));
}

TEST_F(BoxFiles, OfXmlThatDeclaresEntitiesAreRefused) {
  const std::string end = "<annotation><filename>&a;</filename></annotation>";
  std::string laughs = "<!DOCTYPE a [<!ENTITY a \"ha\">";
  for (char c = 'b'; c < 'k'; ++c)
    laughs += fmt::format("<!ENTITY {} \"&{};&{};&{};&{};&{};&{};&{};&{};&{};&{};\">", c, char(c - 1), char(c - 1),
                          char(c - 1), char(c - 1), char(c - 1), char(c - 1), char(c - 1), char(c - 1), char(c - 1),
                          char(c - 1));
  EXPECT_THAT(error_of({put("a.xml", laughs + "]><annotation><filename>&j;</filename></annotation>")}),
              AllOf(HasSubstr("a.xml:1"), HasSubstr("declares entities")));
  put("secret.txt", "secret");
  const std::string file = "<!DOCTYPE a [<!ENTITY a SYSTEM \"file://" + (folder_ / "secret.txt").string() + "\">]>";
  EXPECT_THAT(error_of({put("b.xml", file + end)}), HasSubstr("declares entities"));
  const std::string declared = "<!DOCTYPE a [<!ATTLIST b c CDATA \"1\">]><annotation><b/></annotation>";
  EXPECT_THAT(error_of({put("e.xml", declared)}), HasSubstr("e.xml:1: it declares attributes"));
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  EXPECT_THAT(error_of({put("c.xml", deep)}), HasSubstr("deeper than any annotation"));
  EXPECT_THAT(error_of({put("d.xml", "<annotation><object>\n</annotation>")}), HasSubstr("d.xml:2: mismatched tag"));
}

// Each of these took minutes: a name of megabytes was copied for every element, an item was read again at every quote.
TEST_F(BoxFiles, OfLongNamesTakeTimeInProportion) {
  const Logged quiet;
  const auto begin = std::chrono::steady_clock::now();
  const std::string name(2'000'000, 'a');
  std::string elements;
  for (int i = 0; i < 300'000; ++i) elements += "<b/>";
  const std::string object = voc("a.jpg").substr(std::string("<?xml version=\"1.0\"?><annotation>").size());
  EXPECT_THAT(lines({put("long.xml", "<annotation><" + name + ">" + elements + "</" + name + ">" + object)}),
              ElementsAre("a.jpg bird 10 20 90 60 1.00"));
  put("set/labels/a.txt", "0 0.5 0.5 0.2 0.4\n");
  put("set/data.yaml", "names: [a" + std::string(1'000'000, '"') + "]\n");
  EXPECT_EQ(read_boxes({folder_ / "set"}).boxes.size(), 1U);
  std::string image;
  for (int i = 0; i < 1'000'000; ++i) image += "./";
  const fs::path path = put("dots.csv", "image,x,y,width,height\n" + image + "a.jpg,1,2,30,40\n");
  EXPECT_EQ(crop_photos({"/photos/a.jpg"}, read_boxes({path}), path).size(), 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(BoxFiles, OfWhichTwoThingsHaveOneNumberAreRefused) {
  const auto coco = [&](const std::string& images, const std::string& categories) {
    return error_of(
        {put("coco.json", R"({"annotations": [{"image_id": 7, "category_id": 1, "bbox": [1, 2, 3, 4]}],
        "images": [{"id": 7, "file_name": "a.jpg"})" +
                              images + R"(], "categories": [{"id": 1, "name": "dog"})" + categories + "]}")});
  };
  EXPECT_EQ(coco("", ""), "(no Error)");
  EXPECT_THAT(coco(R"(, {"id": 7, "file_name": "b.jpg"})", ""), HasSubstr("coco.json: images[1]: duplicate id 7"));
  EXPECT_THAT(coco("", R"(, {"id": 1, "name": "cat"})"), HasSubstr("coco.json: categories[1]: duplicate id 1"));
  put("set/labels/a.txt", "0 0.5 0.5 0.2 0.4\n");
  put("set/data.yaml", "names: {0: dog, 0: cat}\n");
  EXPECT_THAT(error_of({folder_ / "set"}), HasSubstr("data.yaml: class 0 has two names, 'dog' and 'cat'"));
}

TEST_F(BoxFiles, OfOtherTypesAreNamedByTheirPlace) {
  EXPECT_THAT(
      error_of({put("md.json", R"({"detection_categories": {"1": "animal"}, "images": [{"file": 7, "detections": [
                  {"category": "1", "bbox": [0, 0, 0.5, 0.5]}]}]})")}),
      HasSubstr("md.json: images[0]: type must be string"));
  EXPECT_THAT(error_of({put("md.json", R"({"detection_categories": {"1": "animal"}, "images": 3})")}),
              HasSubstr("md.json: images is not a list"));
  EXPECT_THAT(
      error_of({put("coco.json",
                    R"({"annotations": [], "images": [{"id": 1.5, "file_name": "a.jpg"}], "categories": []})")}),
      HasSubstr("coco.json: images[0]: id: expected a whole number or a text"));
}

TEST_F(BoxFiles, OfCameraTrapsInCocosFormMayHaveTextsAsIds) {
  const fs::path path = put("traps.json", R"({"images": [{"id": "a/1", "file_name": "a.jpg"}],
      "categories": [{"id": 3, "name": "fox"}],
      "annotations": [{"id": "x", "image_id": "a/1", "category_id": 3, "bbox": [1, 2, 3, 4]}]})");
  EXPECT_THAT(lines({path}), ElementsAre("a.jpg fox 1 2 3 4 1.00"));
}

TEST_F(BoxFiles, OfTwoSpellingsOfOneNameAreOneKindAndThatIsSaid) {
  put("set/labels/a.txt", "0 0.5 0.5 0.2 0.4\n1 0.1 0.1 0.1 0.1\n");
  put("set/data.yaml", "names: ['caf\xc3\xa9', 'cafe\xcc\x81']\n");
  const Logged log;
  EXPECT_THAT(lines({folder_ / "set"}), ElementsAre(HasSubstr("caf\xc3\xa9"), HasSubstr("caf\xc3\xa9")));
  EXPECT_THAT(log.text(), HasSubstr("count as one: 'caf"));
}

TEST_F(BoxFiles, StatedTwiceCountOnceAndOfTwoClassesNotAtAll) {
  const Logged log;
  EXPECT_THAT(lines({put("a.csv",
                         "image,x,y,width,height,class\na.jpg,1,2,3,4,cat\na.jpg,1,2,3,4,cat\na.jpg,5,6,7,8,cat\n"
                         "a.jpg,5,6,7,8,dog\nb.jpg,5,6,7,8,dog\n")}),
              ElementsAre("a.jpg cat 1 2 3 4 1.00", "b.jpg dog 5 6 7 8 1.00"));
  EXPECT_THAT(log.text(), AllOf(HasSubstr("a.csv:5: the box is of 'dog' here and of 'cat' at"), HasSubstr("a.csv:4"),
                                HasSubstr("duplicate boxes are used once: 1")));
}

TEST_F(BoxFiles, OfSharesMayBeRoundedUpBeyondOne) {
  const fs::path path = put("a.csv", "image,xmin,ymin,xmax,ymax\na.jpg,0.1,0.1,1.0000001,0.9\n");
  EXPECT_TRUE(read_boxes({path}).boxes.front().box.relative);
}

// AddaxAI's results_detections.csv has two columns of paths, and corners in pixels beside the picture's size.
TEST_F(BoxFiles, OfAddaxAiHaveTheirDetectorsKinds) {
  const fs::path path = put("results_detections.csv",
                            "absolute_path,relative_path,data_type,label,confidence,bbox_left,bbox_top,bbox_right,"
                            "bbox_bottom,file_height,file_width\n"
                            "C:\\cams\\1\\a.jpg,1\\a.jpg,img,animal,0.9,10,20,40,60,480,640\n"
                            "C:\\cams\\1\\a.jpg,1\\a.jpg,img,animal,0.9,700,20,740,60,480,640\n");
  const Logged log;
  EXPECT_THAT(lines({path}), ElementsAre("1\\a.jpg animal 10 20 30 40 0.90"));
  EXPECT_THAT(log.text(), HasSubstr("csv:3: a box outside the image, which has 640 x 480"));
  EXPECT_FALSE(read_boxes({path}).kinds_are_classes);
}

TEST_F(BoxFiles, FindPhotosOfOtherCapitalsOrPlacesWhereOneIsMeant) {
  const std::vector<fs::path> photos = {"/p/cat/img_1.jpg", "/p/dog/img_2.jpg", "/p/dog/img_3.jpg", "/p/cat/img_3.jpg"};
  const fs::path path = put("a.csv",
                            "image,x,y,width,height\nraw/1/IMG_1.JPG,1,2,3,4\nraw/2/IMG_2.JPG,1,2,3,4\n"
                            "raw/2/IMG_3.JPG,1,2,3,4\n");
  const Logged log;
  std::vector<std::string> found;
  for (const Crop& one : crop_photos(photos, read_boxes({path}), path)) found.push_back(one.photo.string());
  EXPECT_THAT(found, ElementsAre("/p/cat/img_1.jpg", "/p/dog/img_2.jpg"));
  EXPECT_THAT(log.text(), HasSubstr("several may be meant: raw/2/IMG_3.JPG"));
}

/// Returns the seconds to read that many boxes on a tenth as many photos and to find these.
double seconds_for(int count, const fs::path& path) {
  std::string text = R"({"detection_categories": {"1": "animal"}, "images": [)";
  std::vector<fs::path> photos;
  for (int i = 0; i < count / 10; ++i) {
    text += fmt::format(R"({}{{"file": "site{}/{}.jpg", "detections": [)", i > 0 ? "," : "", i % 100, i);
    for (int d = 0; d < 10; ++d)
      text +=
          fmt::format(R"({}{{"category": "1", "conf": 0.9, "bbox": [0.{}, 0.1, 0.05, 0.05]}})", d > 0 ? "," : "", d);
    text += "]}";
    photos.emplace_back(fmt::format("/photos/site{}/{}.jpg", i % 100, i));
  }
  std::ofstream(path, std::ios::binary) << text + "]}";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(crop_photos(photos, read_boxes({path}), path).size(), static_cast<size_t>(count));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST_F(BoxFiles, OfManyTakeTimeInProportion) {
  const Logged quiet;
  const double tenth = seconds_for(20000, folder_ / "few.json");
  EXPECT_LT(seconds_for(200000, folder_ / "many.json"), 50 * tenth) << "a square would be 100";
}

}  // namespace
}  // namespace protocom::testing
