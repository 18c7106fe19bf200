#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace protocom {

/// What a column of a CSV says of photos. The table has a column of images, as read_image_list() knows it (image,
/// file_name, path, id, ...), whose cells name a photo by its path or by an end of it that is no other photo's.
/// [photos], in their order; empty where no row names the photo, or its cell is. Throws Error with file and line: no
/// such columns, two rows that say different things of one photo.
std::vector<std::string> cells_of_photos(const std::filesystem::path& table, const std::string& column,
                                         const std::vector<std::filesystem::path>& photos);

}  // namespace protocom
