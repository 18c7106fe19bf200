#pragma once
#include <filesystem>
#include <string>

#include "protocom/skipped_files.h"

namespace protocom {

/// Returns the supported image formats, for messages: "JPEG, PNG, ... or BMP".
std::string image_kinds();

/// Whether a name has a suffix of such a format, in any case, does not begin with a dot, and is not a thumbnail that a
/// NAS puts beside photos (SYNOFILE_THUMB_M.jpg), an edited copy beside its photo in an archive of Google Takeout
/// (IMG_1-edited.jpg), or a camera's raw photo beside the JPEG or HEIC of the same shot (IMG_1.CR2).
bool is_image_name(const std::filesystem::path& path);

/// Whether a folder contains no photos of its own: hidden ones (a dot before the name), and those that NAS systems,
/// archivers and file systems use internally (@eaDir, #recycle, __MACOSX, lost+found, *.photoslibrary, ...), whose
/// thumbnails and deleted files look like photos.
bool is_left_out_folder(const std::filesystem::path& folder);

}  // namespace protocom
