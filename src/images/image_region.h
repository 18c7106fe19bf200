#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "images/image.h"
#include "images/preprocessing.h"

namespace protocom {

/// A rectangle of an upright image, in pixels of its file or in shares of its width and height.
struct ImageBox {
  double x = 0, y = 0;           ///< the corner at the top left
  double width = 0, height = 0;  ///< above 0
  bool relative = false;         ///< shares, 0 to 1
};

/// An image file, or a box of it, which counts as a separate photo wherever images are read by name.
struct ImageRegion {
  std::filesystem::path file;
  std::optional<ImageBox> box = {};
};

/// Of a name: "IMG_1.jpg", "IMG_1.jpg#xywh=120,40,300,260" in pixels, or "IMG_1.jpg#xywh=percent:10,5,25,20"
/// (https://www.w3.org/TR/media-frags/#naming-space). A file that is called so is itself.
ImageRegion region_of(const std::filesystem::path& name);

/// The name again. Boxes are written to 1e-6 pixels or percent.
std::filesystem::path name_of(const ImageRegion& region);

/// Why a box cannot be cut out of any picture; empty: nothing is wrong with it. Boxes may reach over the border.
std::string wrong_box(const ImageBox& box);

/// The square around a box by which an encoder sees it: its longer side and a tenth of that on each side, moved into
/// the picture where it reaches over the border. What is larger than the picture has the grey of ImageNet's mean
/// around it. Throws Error for a box that lies outside.
Image square_around(const Image& image, const ImageBox& box, const ImageSize& size);

/// What is read of a name.
struct ReadRegion {
  Image image;       ///< as an encoder takes it: resize_and_crop of the image, or of the square around the box
  std::string hash;  ///< hash_bytes of the file, or of that and the box
};

/// ReadRegion::hash of a region of a file with the hash `file_hash`, without reading it.
std::string region_hash(const std::string& file_hash, const ImageRegion& region);

/// The one place where files become images for encoders. Throws Error that names what cannot be read. Thread-safe.
ReadRegion read_region(const std::filesystem::path& name, const Preprocessing& preprocessing);

}  // namespace protocom
