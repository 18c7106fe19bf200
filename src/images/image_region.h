#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "images/image.h"
#include "images/preprocessing.h"
#include "protocom/photo_choices.h"

namespace protocom {

/// A rectangle of an upright image, in pixels of its file or in shares of its width and height.
struct ImageBox {
  double x = 0, y = 0;             ///< the top left corner
  double width = 0, height = 0;    ///< above 0
  bool relative = false;           ///< whether in shares, 0 to 1
  double margin = v0::kBoxMargin;  ///< around it on each side, as a share of the longer side, 0 to 1
};

/// An image file, or a box of it, which counts as a separate photo wherever images are read by name.
struct ImageRegion {
  std::filesystem::path file;
  std::optional<ImageBox> box = {};
};

/// Parses a name: "IMG_1.jpg", "IMG_1.jpg#xywh=120,40,300,260" in pixels, or "IMG_1.jpg#xywh=percent:10,5,25,20"
/// (https://www.w3.org/TR/media-frags/#naming-space), followed by "&margin=0.25" for another margin than the default,
/// which other programs ignore. If a file has exactly this name, it is that file.
ImageRegion region_of(const std::filesystem::path& name);

/// Returns the name of a region. Boxes are written to 1e-6 pixels or percent.
std::filesystem::path name_of(const ImageRegion& region);

/// Returns why a box is invalid for any picture; empty: it is valid. Boxes may extend over the border.
std::string wrong_box(const ImageBox& box);

/// Crops the square around a box for an encoder: its longer side plus ImageBox::margin of that on each side, moved into
/// the picture if it extends over the border. If it is larger than the picture, the margin has the grey of ImageNet's
/// mean. Throws Error for a box outside the picture.
Image square_around(const Image& image, const ImageBox& box, const ImageSize& size);

/// The result of reading a region.
struct ReadRegion {
  Image image;       ///< prepared for an encoder: resize_and_crop of the image, or of the square around the box
  std::string hash;  ///< hash_bytes of the file, or of that and the box
};

/// Returns ReadRegion::hash of a region of a file with the hash `file_hash`, without reading it.
std::string region_hash(const std::string& file_hash, const ImageRegion& region);

/// The only function that makes images for encoders from files. Throws Error that names what cannot be read.
/// Thread-safe.
ReadRegion read_region(const std::filesystem::path& name, const Preprocessing& preprocessing);

}  // namespace protocom
