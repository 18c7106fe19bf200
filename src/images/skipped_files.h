#pragma once
#include <filesystem>
#include <string>

#include "protocom/skipped_files.h"

namespace protocom {

/// The kinds of images that are read, for messages: "JPEG, PNG, ... or BMP".
std::string image_kinds();

/// True for names with a suffix of such a kind, in any case, that do not begin with a dot, and are not thumbnails that
/// a storage box puts beside photos (SYNOFILE_THUMB_M.jpg), nor edited copies beside their photos in what Google
/// Takeout packs (IMG_1-edited.jpg), nor cameras' raw photos beside the JPEG or HEIC of the same shot (IMG_1.CR2).
bool is_image_name(const std::filesystem::path& path);

/// True for folders that hold no photos of their own: hidden ones (a dot before the name), and those that storage
/// boxes, archivers and file systems keep for themselves (@eaDir, #recycle, __MACOSX, lost+found, *.photoslibrary,
/// ...), whose thumbnails and deleted files look like photos.
bool is_left_out_folder(const std::filesystem::path& folder);

}  // namespace protocom
