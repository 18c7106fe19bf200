#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "images/image_region.h"
#include "protocom/photo_choices.h"

namespace protocom {

/// Where a JSON has a box: MegaDetector's images[outer].detections[inner], COCO's annotations[outer].
struct BoxPlace {
  int64_t outer = -1, inner = -1;  ///< -1: nowhere
};

/// A box as a file states it.
struct PhotoBox {
  std::string image;  ///< as it is written there
  ImageBox box;
  std::string kind;       ///< of the thing in the box; may be empty
  double confidence = 1;  ///< 0 to 1
  BoxPlace place = {};
};

/// The boxes of a file that are taken. A file with no other kinds than MegaDetector's (animal, person,
/// vehicle) gives positions, not classes.
struct BoxFile {
  std::vector<PhotoBox> boxes;  ///< in the order of the file
  std::vector<std::string>
      photos;                      ///< all that it lists, with and without boxes; empty: a format that lists only boxes
  bool kinds_are_classes = false;  ///< what people labelled, as opposed to a detector's kinds (animal, person)
};

/// Reads boxes:
/// - `.json` of MegaDetector: shares of the picture, kinds, `conf`
///   (https://github.com/agentmorris/MegaDetector/tree/main/megadetector/api/batch_processing#megadetector-batch-output-format);
/// - `.json` of COCO: pixels, categories (https://cocodataset.org/#format-data), and `score` if there is one;
/// - a CSV image,x,y,width,height or image,xmin,ymin,xmax,ymax, with class and confidence where they are there: pixels,
///   or shares if no number of the file is above 1;
/// - `.xml` of Pascal VOC, or a folder with some: pixels, names of objects
///   (http://host.robots.ox.ac.uk/pascal/VOC/voc2012/htmldoc/devkit_doc.html);
/// - the folder of YOLO's labels: data.yaml or classes.txt with the names, and a text for each image below labels/ with
///   class, centre and size, or class and corners of an outline (https://docs.ultralytics.com/datasets/detect/);
/// - a folder that boxes_beside() finds boxes in.
/// Boxes of no size, outside the image or with numbers that are not finite are left out and logged with their rows,
/// and so are boxes of two classes; how many were not requested is logged. A box that is stated twice counts once.
/// Takes time linear in their number. Throws Error for other files, kinds that are not there, and if no box is left.
BoxFile read_boxes(const BoxChoice& choice);

/// A box of a photo that is there.
struct Crop {
  std::filesystem::path name;   ///< name_of its region, which is read as an image of its own
  std::filesystem::path photo;  ///< as it was given
  std::string kind;
  double confidence = 1;
  BoxPlace place = {};
};

/// The boxes of photos, in the order of the photos. A box belongs to the photo whose path ends as the file writes it;
/// if no photo's does, without the folder that all names of the file begin with; and else by the name of its file
/// alone, whatever its suffix and capitals, where one photo and one name of the file have it. Photos without a box, and
/// boxes of photos that are not there, are counted and logged. Throws Error if no photo has a box.
std::vector<Crop> crop_photos(const std::vector<std::filesystem::path>& photos, const BoxFile& file,
                              const std::filesystem::path& path);

}  // namespace protocom
