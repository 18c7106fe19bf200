#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "protocom/photo_choices.h"

namespace protocom {

/// Thrown for a list whose classes are ambiguous: options must choose.
class UndecidedList : public Error {
 public:
  using Error::Error;
};

/// An image of a list and its class, as written there.
struct ListedImage {
  std::string image;  ///< may be empty: a class without images
  std::string class_name;
  std::string where;  ///< "labels.csv:17"
};

/// Reads a list of images and their classes:
/// - a CSV with a column of images (image, file_name, path, id, ...) and one of classes (class, label, species, breed,
///   ...), in any case and order: Kaggle's train.csv, the metadata.csv of Hugging Face, Label Studio's CSV; or with
///   a column of 0 and 1 for each class, one of which is 1: ISIC's ground truth, Roboflow's _classes.csv;
/// - `.jsonl` with an object of such members on each line;
/// - `.json`: Label Studio's export of choices, or COCO's annotations if each image has one category.
/// For Label Studio's exports `choices` selects the question and whose answers count; skipped or disputed images are
/// left out and logged. Throws Error with file and line: no such columns, several candidates, several questions, a row
/// without a class, an image in two classes.
std::vector<ListedImage> read_image_list(const std::filesystem::path& path, const ListChoices& choices = {});

/// Returns the name of a file in lower case and without its suffix, as lists of other tools may name it.
std::string loose_name(const std::string& path);

/// Finds the files that lists name: as written, below the list's folder, without their suffix, and by the end of their
/// path if that is unique (lists are moved, and kept beside the folder of their images); else by their name ignoring
/// case and suffix, if that is unique.
class ListedFiles {
 public:
  /// Walks the folder when a first image is not at the path in the list.
  explicit ListedFiles(std::filesystem::path folder);
  /// Returns nothing if there is no file, or several match.
  [[nodiscard]] std::optional<std::filesystem::path> find(const std::string& written);
  /// Finds the files of all rows of a list, which were moved together: if some files are in the folder that is written,
  /// a row whose file is missing does not match another folder's file of that name; nor do two rows match one file.
  /// [written]
  [[nodiscard]] std::vector<std::optional<std::filesystem::path>> find_all(const std::vector<std::string>& written);
  /// Finds the files of a list's images likewise. Throws Error if rows that write one file differently state different
  /// classes.
  [[nodiscard]] std::vector<std::optional<std::filesystem::path>> find_listed(const std::vector<ListedImage>& list);

 private:
  /// Whether a file is in the folder stated by its row, perhaps with another case or suffix.
  [[nodiscard]] bool is_in_its_folder(const std::string& written, const std::filesystem::path& found) const;
  std::optional<std::filesystem::path> find_plain(const std::string& plain);
  void walk();

  std::filesystem::path folder_;
  bool walked_ = false;
  std::map<std::string, std::filesystem::path> ends_;  ///< every end of a path, with and without suffix; empty: several
  std::map<std::string, std::filesystem::path> loose_;  ///< names in lower case, without suffix; empty: several
};

/// Whether a path is a file that may be such a list, by its suffix.
bool is_list_file(const std::filesystem::path& path);

/// Returns the list of a folder whose images are not in class folders: metadata.csv, labels.csv, train.csv, ... or
/// another CSV, JSON Lines or JSON that read_image_list reads as a list of existing images. Nothing if there is none,
/// or if folders have the names of its classes. Throws UndecidedList if `choices` must select what counts, and Error
/// for a CSV with the columns of such a list and a row that cannot be read, has no class or gives an image a second
/// one, unless a cell has the name of one of the folders.
std::optional<std::filesystem::path> image_list_in(const std::filesystem::path& folder, const ListChoices& choices);

/// Returns the error in the first file of a folder that looks like a broken list; empty if none does.
std::string why_no_list(const std::filesystem::path& folder, const ListChoices& choices);

/// Returns the first file of a folder that read_image_list() reads, wherever its images are.
std::optional<std::filesystem::path> any_list_in(const std::filesystem::path& folder, const ListChoices& choices);

}  // namespace protocom
