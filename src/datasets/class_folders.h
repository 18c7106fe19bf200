#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "datasets/split.h"
#include "protocom/photo_choices.h"

namespace protocom {

/// Returns the folders in `folder`, sorted by name, without those that no walk enters (is_left_out_folder). Throws
/// Error if it cannot be listed.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder);

/// The role of a folder, by its name in any case.
enum class FolderPart {
  kSplit,   ///< base, val, novel, train, training, validation, dev, test, ...: classes of one split
  kImages,  ///< support, query, gallery, probe: some of the images of the same classes
};

/// Returns nothing for any other name.
std::optional<FolderPart> part_named(const std::filesystem::path& folder);
/// Returns the split that a folder's name means.
std::optional<Split> split_named(const std::filesystem::path& folder);

/// Throws Error if `folder` contains splits or other parts with class folders or a list of images in them: otherwise
/// "train" and "test" would be enrolled as classes.
void refuse_parts(const std::filesystem::path& folder, const ListChoices& lists);

/// Throws Error if `folder` is, contains or lies in the library of Apple's Photos, whose folders ("0" to "F") are not
/// classes: Name.photoslibrary, also renamed, or only its folder `originals`, whose files have identifiers as names.
void refuse_photo_library(const std::filesystem::path& folder);

/// Purpose of a folder of splits of the same classes.
enum class SplitPurpose { kTraining, kTesting };

/// Selects from a folder that contains only splits with classes in common (train/ and test/, each with class folders or
/// a list of its images; test/ may have images without labels) the split to train on, or to test on (test/, else the
/// validation split); logs which others are left out, with their images. Returns any other folder unchanged, also one
/// whose splits have no class in common.
std::filesystem::path split_for(SplitPurpose purpose, const std::filesystem::path& folder, const ListChoices& lists);

/// Whether a folder is named as one sequence of photos: a word such as visit, burst or video, and a number ("visit1",
/// "Burst 2", "seq_03").
bool is_sequence_folder(const std::filesystem::path& folder);

/// Warns of class folders that hold no image themselves but several folders (family/species; folders of sequences are
/// expected there), and of the photos in a folder images or JPEGImages, whose labels are missing: each is one class.
void warn_of_doubtful_classes(const std::vector<std::filesystem::path>& class_folders);

}  // namespace protocom
