#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/image_dataset.h"
#include "datasets/packed_images.h"
#include "images/image.h"

namespace protocom {

/// Copies a picture into a larger one, its corner at row `top` and column `left`.
void paste(const Image& picture, int64_t top, int64_t left, Image& sheet);

/// One row of a contact sheet: a line of text and the images below it.
struct SheetRow {
  std::string label;  ///< ASCII; other characters are drawn as '?'; empty: no line of text
  std::vector<Image> images;
};

/// Draws rows of square tiles of `tile` pixels on white. Images are resized and cropped to the tile; an image of size 0
/// becomes a crossed box. Throws UsageError unless tile is 8..1024 and there is an image.
Image draw_contact_sheet(const std::vector<SheetRow>& rows, int64_t tile);

/// The content of a dataset's sheet.
struct SheetOptions {
  int64_t classes = 12;           ///< approximate number; every split in proportion, with at least one class
  int64_t images_per_class = 10;  ///< drawn at random without repetition
  int64_t tile = 84;              ///< side length of an image, pixels
  uint64_t seed = 0;
};

/// Makes a contact sheet of random classes and images: base first, then val, then novel. Unreadable images are crossed
/// boxes.
Image make_contact_sheet(const ImageDataset& dataset, const SheetOptions& options);
/// Makes a contact sheet of decoded images.
Image make_contact_sheet(const PackedImages& images, const SheetOptions& options);

}  // namespace protocom
