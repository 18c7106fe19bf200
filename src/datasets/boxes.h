#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "images/image_region.h"
#include "protocom/photo_choices.h"

namespace protocom {

/// The position of a box in a JSON: MegaDetector's images[outer].detections[inner], COCO's annotations[outer].
struct BoxPlace {
  int64_t outer = -1, inner = -1;  ///< -1: none
};

/// A box as a file states it.
struct PhotoBox {
  std::string image;  ///< as written in the file
  ImageBox box;
  std::string kind;       ///< of the object in the box; may be empty
  double confidence = 1;  ///< 0 to 1
  BoxPlace place = {};
  std::string where = {};  ///< its row in messages: "crops.csv:3"
};

/// The boxes accepted from a file. A file with only MegaDetector's kinds (animal, person, vehicle) gives positions, not
/// classes.
struct BoxFile {
  std::vector<PhotoBox> boxes;      ///< in the order of the file
  std::vector<std::string> photos;  ///< all that it lists; empty: its format lists only boxes
  bool kinds_are_classes = false;   ///< whether they are people's labels, not a detector's (animal, person)
};

/// Reads boxes:
/// - `.json` of MegaDetector: shares of the picture, kinds, `conf`
/// (https://github.com/agentmorris/MegaDetector/tree/main/megadetector/api/batch_processing#megadetector-batch-output-format);
/// - `.json` of COCO: pixels, categories (https://cocodataset.org/#format-data), and `score` if there is one;
/// - a CSV image,x,y,width,height or image,xmin,ymin,xmax,ymax, optionally with class and confidence: pixels,
///   or shares if no number of the file is above 1.5 (in a file of pixels, a box of at most one pixel is not
///   taken: its row may be in shares); decimal commas are read, but not "1,200", which may be 1200;
/// - `.xml` of Pascal VOC, or a folder with some: pixels, names of objects
///   (http://host.robots.ox.ac.uk/pascal/VOC/voc2012/htmldoc/devkit_doc.html);
/// - the folder of YOLO's labels, or the data.yaml in it: data.yaml or classes.txt with the names, and a text for each
///   image below labels/ with class, centre and size, or class and corners of an outline
///   (https://docs.ultralytics.com/datasets/detect/);
/// - a folder in which boxes_beside() finds boxes.
/// Boxes of no size, outside the image or with numbers that are not finite are left out and logged with their rows, and
/// so are boxes with two classes; the number of boxes not requested is logged. A repeated box counts once. Takes linear
/// time. Throws Error for other files, unknown kinds, and if no box is left.
BoxFile read_boxes(const BoxChoice& choice);

/// Reads the bytes of such a JSON or CSV, which BoxChoice::file names in messages. Throws what read_boxes throws.
BoxFile read_boxes_in(std::string_view bytes, const BoxChoice& choice);

/// A box of an existing photo.
struct Crop {
  std::filesystem::path name;   ///< name_of its region, which is read as a separate image
  std::filesystem::path photo;  ///< as it was given
  std::string kind;
  double confidence = 1;
  BoxPlace place = {};
  std::string where = {};  ///< PhotoBox::where
  ImageBox box = {};
};

/// Returns the boxes of photos, in the order of the photos. A box belongs to the photo whose path ends with the name in
/// the file; if there is none, with the name without the common folder of all names; else to the photo with the same
/// file name, ignoring suffix and case, if one photo and one name of the file have it. Photos without a box, and boxes
/// of missing photos, are counted and logged. Throws Error if no photo has a box.
std::vector<Crop> crop_photos(const std::vector<std::filesystem::path>& photos, const BoxFile& file,
                              const std::filesystem::path& path);

}  // namespace protocom
