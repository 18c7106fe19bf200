#include "datasets/split.h"

#include <algorithm>

#include "base/clean_name.h"
#include "base/enum_words.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/text.h"
#include "io/csv.h"
#include "io/files.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

constexpr EnumWord<Split> kSplits[] = {{Split::kBase, "base"}, {Split::kVal, "val"}, {Split::kNovel, "novel"}};

/// Collects classes and refuses a class that occurs twice.
class SplitCollector {
 public:
  void add(const std::string& written, Split split, const std::string& where) {
    const std::string name = clean_name(written);
    if (name.empty()) fail("{}: the name of the class is empty", where);
    const auto [place, is_new] = table_.emplace(name, split);
    if (is_new) {
      where_[name] = where;
    } else if (place->second == split) {
      fail("{}: duplicate class '{}' (first at {})", where, name, where_[name]);
    } else {
      fail("{}: class '{}' is in '{}' here and in '{}' at {}: expected disjoint splits", where, name, to_string(split),
           to_string(place->second), where_[name]);
    }
  }

  SplitTable take(const fs::path& path) {
    if (table_.empty()) fail("{} names no class", path.string());
    return std::move(table_);
  }

 private:
  SplitTable table_;
  std::map<std::string, std::string> where_;
};

void add_list(SplitCollector& collector, const fs::path& path, Split split) {
  for_each_line(path, [&](int64_t number, std::string_view line) {
    if (number == 1 && line.substr(0, 3) == "\xef\xbb\xbf") line.remove_prefix(3);
    const std::string name(line.substr(0, line.find('\t')));
    const size_t end = name.find_last_not_of(' ');
    if (end != std::string::npos)
      collector.add(name.substr(0, end + 1), split, fmt::format("{}:{}", path.string(), number));
    return true;
  });
}

SplitTable read_split_csv(const fs::path& path) {
  const CsvTable csv = read_csv(path);
  const size_t class_column = csv.column("class");
  const size_t split_column = csv.column("split");
  SplitCollector collector;
  for (const CsvRow& row : csv.rows) {
    try {
      const std::string name(trimmed(row.cells[class_column]));
      collector.add(name, parse_split(trimmed(row.cells[split_column])), csv.where(row));
    } catch (const UsageError& error) {
      fail("{}: {}", csv.where(row), error.what());
    }
  }
  return collector.take(path);
}

/// Whether a path exists. Unlike std::filesystem::exists it returns false for an impossible name, so that the message
/// about the expected files follows.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Returns `P-base.txt` for a prefix P, `base.txt` in a folder P.
fs::path list_path(const fs::path& path, Split split) {
  const std::string name(to_string(split));
  return is_folder(path) ? path / (name + ".txt") : fs::path(path.string() + "-" + name + ".txt");
}

}  // namespace

std::string_view v0::to_string(Split split) { return word_of(kSplits, split); }

Split parse_split(std::string_view text) {
  if (text == "train") return Split::kBase;
  if (text == "valid" || text == "validation") return Split::kVal;
  if (text == "test") return Split::kNovel;
  return value_of(kSplits, text, "split");
}

int64_t leave_out_validation(std::vector<Split>& class_split) {
  constexpr int64_t kFewestBase = 12;
  constexpr int64_t kFewestLeftOut = 4;
  std::vector<size_t> base;
  for (size_t c = 0; c < class_split.size(); ++c) {
    if (class_split[c] == Split::kVal) return 0;
    if (class_split[c] == Split::kBase) base.push_back(c);
  }
  const auto classes = static_cast<int64_t>(base.size());
  if (classes < kFewestBase) return 0;
  const int64_t left_out = std::max(kFewestLeftOut, classes / 8);
  for (const int64_t i : Rng(0).sample(classes, left_out)) class_split[base[static_cast<size_t>(i)]] = Split::kVal;
  return left_out;
}

namespace {

/// Returns the lists of Animals with Attributes: trainclasses.txt and testclasses.txt in its folder.
std::vector<std::pair<fs::path, Split>> awa_lists(const fs::path& folder) {
  return {{folder / "trainclasses.txt", Split::kBase}, {folder / "testclasses.txt", Split::kNovel}};
}

}  // namespace

SplitTable read_split(const fs::path& path) {
  if (is_there(path) && !is_folder(path)) return read_split_csv(path);
  if (is_there(awa_lists(path).front().first) && !is_there(list_path(path, Split::kBase))) {
    SplitCollector collector;
    for (const auto& [list, split] : awa_lists(path)) add_list(collector, list, split);
    return collector.take(path);
  }
  if (!is_there(list_path(path, Split::kBase))) {
    fail("no split at {}: expected a CSV with the columns class,split, or the lists {}, {} and {}", path.string(),
         list_path(path, Split::kBase).string(), list_path(path, Split::kVal).string(),
         list_path(path, Split::kNovel).string());
  }
  SplitCollector collector;
  for (const Split split : kAllSplits) {
    if (is_there(list_path(path, split))) add_list(collector, list_path(path, split), split);
  }
  return collector.take(path);
}

std::vector<fs::path> split_files(const fs::path& path) {
  if (is_there(path) && !is_folder(path)) return {path};
  std::vector<fs::path> lists;
  for (const auto& entry : awa_lists(path)) {
    if (is_there(entry.first)) lists.push_back(entry.first);
  }
  for (const Split split : kAllSplits) {
    if (is_there(list_path(path, split))) lists.push_back(list_path(path, split));
  }
  return lists;
}

std::string split_csv(const std::vector<std::string>& classes, const std::vector<Split>& split) {
  std::string text = "class,split\n";
  for (size_t c = 0; c < classes.size(); ++c) text += fmt::format("{},{}\n", csv_cell(classes[c]), to_string(split[c]));
  return text;
}

}  // namespace protocom
