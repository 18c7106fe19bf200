#pragma once
#include <filesystem>
#include <string_view>
#include <vector>

#include "protocom/box_choice.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// requests_of_folder with boxes in place of the photos: a class for each kind of box where the file's kinds are
/// classes, else the folder's classes. Without a choice the boxes are those that lie beside the photos (boxes_beside).
/// Throws what requests_of_folder, read_boxes and crop_photos throw.
std::vector<EnrolRequest> requests_of_boxed_folder(const std::filesystem::path& folder, std::string_view option,
                                                   const BoxChoice& choice);

/// Puts the boxes of the requests' photos in their place. Classes of whose photos none has a box are left out and
/// logged. Throws what read_boxes and crop_photos throw.
void take_boxes(const BoxChoice& choice, std::vector<EnrolRequest>& requests);

}  // namespace protocom
