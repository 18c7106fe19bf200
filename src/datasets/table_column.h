#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace protocom {

/// Returns the cells of a CSV's column that belong to photos: [photos], in their order; empty if no row names the
/// photo. The table also has a column of images, as read_image_list() finds it (image, file_name, path, id, ...). Its
/// cells contain each photo's path, or an ending of the path that only this photo has. Throws Error with file and line
/// if a column is missing or two rows give one photo different cells.
std::vector<std::string> cells_of_photos(const std::filesystem::path& table, const std::string& column,
                                         const std::vector<std::filesystem::path>& photos);

/// Returns the cells of a CSV's column that belong to classes, without empty ones; class names are normalised as at
/// enrolment (clean_name). The table also has a column of classes, as read_image_list() finds it (class, label,
/// species, ...). `columns`: possible names of the column. Throws Error with file and line if the table has none or
/// several of these, if no column has classes, or if two rows give one class different cells.
std::map<std::string, std::string> cells_of_classes(const std::filesystem::path& table,
                                                    const std::vector<std::string>& columns);

}  // namespace protocom
