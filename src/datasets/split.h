#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocom/episode.h"

namespace protocom::v0 {
/// Returns "base", "val" or "novel".
std::string_view to_string(Split split);
}  // namespace protocom::v0

namespace protocom {
using v0::to_string;

inline constexpr std::array<Split, 3> kAllSplits = {Split::kBase, Split::kVal, Split::kNovel};

/// Parses a split; also accepts "train", "validation", "valid" and "test". Throws UsageError for anything else.
Split parse_split(std::string_view text);

/// If no class is kVal and at least 12 are kBase: makes an eighth of these val classes, at least 4, deterministic given
/// their number. Returns how many.
int64_t leave_out_validation(std::vector<Split>& class_split);

/// Class name -> split.
using SplitTable = std::map<std::string, Split>;

/// Reads a split: a CSV with the columns `class,split`; or a folder or prefix `P` of three lists `P-base.txt`,
/// `P-val.txt`, `P-novel.txt` (`base.txt`, ... in a folder) with a class name first on each line, a tab before any
/// comment. Blanks around a CSV's names are not part of them. Throws Error with file and line for a class in two
/// splits, an unknown split name or an empty file.
SplitTable read_split(const std::filesystem::path& path);

/// Returns the files that read_split reads: one CSV, or the existing lists.
std::vector<std::filesystem::path> split_files(const std::filesystem::path& path);

/// Returns the CSV of classes and their splits [c] that read_split reads.
std::string split_csv(const std::vector<std::string>& classes, const std::vector<Split>& split);

}  // namespace protocom
