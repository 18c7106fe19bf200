#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "base/quiet.h"
#include "base/text.h"
#include "datasets/class_folders.h"
#include "datasets/detail/list_words.h"
#include "datasets/image_list.h"
#include "images/folder_walk.h"
#include "images/skipped_files.h"
#include "io/csv.h"
#include "io/files.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// Removes the prefix that Label Studio adds to uploaded files: eight hexadecimal digits, or six in old versions, and a
/// dash.
std::string without_upload_mark(const std::string& name) {
  for (const int digits : {8, 6}) {
    const auto length = static_cast<size_t>(digits);
    const bool marked =
        name.size() > length + 1 && name[length] == '-' &&
        std::all_of(name.begin(), name.begin() + digits, [](unsigned char c) { return std::isxdigit(c) != 0; });
    if (marked) return name.substr(length + 1);
  }
  return "";
}

/// Normalises a path below a folder: other systems' separators, "./", and the prefix under which a server serves it.
std::string plain_path(std::string written) {
  std::replace(written.begin(), written.end(), '\\', '/');
  const size_t query = written.find("?d=");
  if (query != std::string::npos) written.erase(0, query + 3);
  size_t begin = 0;
  while (written.compare(begin, 2, "./") == 0) begin += 2;
  return written.substr(begin);
}

/// Returns the end of a path that is not longer than paths can be. Every end of a path is looked up, which would take
/// hours for megabytes.
std::string possible_end(const std::string& path) {
  constexpr size_t kLongest = 4096;  // PATH_MAX
  if (path.size() <= kLongest) return path;
  const size_t slash = path.find('/', path.size() - kLongest);
  return slash == std::string::npos ? "" : path.substr(slash + 1);
}

/// Returns "my photo.jpg" for "my%20photo.jpg", as in URLs; invalid escapes stay.
std::string decoded(const std::string& address) {
  std::string name;
  for (size_t i = 0; i < address.size(); ++i) {
    const auto digit = [&](size_t at) { return at < address.size() && std::isxdigit(uint8_t(address[at])) != 0; };
    if (address[i] == '%' && digit(i + 1) && digit(i + 2)) {
      name += static_cast<char>(std::stoi(address.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      name += address[i];
    }
  }
  return name;
}

}  // namespace

std::string loose_name(const std::string& path) { return lowercase(fs::path(path).stem().string()); }

ListedFiles::ListedFiles(fs::path folder) : folder_(std::move(folder)) {}

void ListedFiles::walk() {
  walked_ = true;
  const std::string prefix = (folder_ / "").generic_string();
  for (const fs::path& path : walk_folder(folder_, fs::directory_options::skip_permission_denied).images) {
    const std::string id = path.generic_string().substr(prefix.size());
    add_ends(id, path, ends_);
    add_ends(id.substr(0, id.size() - path.extension().string().size()), path, ends_);
    const auto [place, is_new] = loose_.emplace(loose_name(id), path);
    if (!is_new) place->second.clear();
  }
}

std::optional<fs::path> ListedFiles::find(const std::string& written) {
  const std::string plain = possible_end(plain_path(written));
  const std::optional<fs::path> found = find_plain(plain);
  const std::string name = decoded(plain);
  return found || name == plain || name.find('\0') != std::string::npos ? found : find_plain(name);
}

bool ListedFiles::is_in_its_folder(const std::string& written, const fs::path& found) const {
  const std::string plain = possible_end(plain_path(written));
  return (folder_ / plain).parent_path() == found.parent_path() ||
         (folder_ / decoded(plain).c_str()).parent_path() == found.parent_path();
}

std::vector<std::optional<fs::path>> ListedFiles::find_all(const std::vector<std::string>& written) {
  std::vector<std::optional<fs::path>> found;
  std::vector<bool> moved;
  std::map<fs::path, std::set<std::string>> names;
  bool some_stayed = false;
  for (const std::string& one : written) {
    found.push_back(find(one));
    moved.push_back(found.back() && !is_in_its_folder(one, *found.back()));
    some_stayed |= found.back() && !moved.back();
    if (found.back()) names[*found.back()].insert(plain_path(one));
  }
  for (size_t i = 0; i < written.size(); ++i) {
    const bool names_a_folder = plain_path(written[i]).find('/') != std::string::npos;
    if (moved[i] && ((some_stayed && names_a_folder) || names.at(*found[i]).size() > 1)) found[i].reset();
  }
  return found;
}

std::optional<fs::path> ListedFiles::find_plain(const std::string& plain) {
  if (plain.empty()) return std::nullopt;
  if (is_file(folder_ / plain)) return folder_ / plain;
  if (!walked_) walk();
  // Finds the longest end of the written path that is the end of one file: the rest may be from another machine.
  for (std::string end = plain;;) {
    const auto found = ends_.find(end);
    if (found != ends_.end()) return found->second.empty() ? std::nullopt : std::optional(found->second);
    const size_t slash = end.find('/');
    if (slash == std::string::npos) break;
    end.erase(0, slash + 1);
  }
  const auto found = ends_.find(without_upload_mark(plain.substr(plain.rfind('/') + 1)));
  if (found != ends_.end() && !found->second.empty()) return found->second;
  const auto loose = loose_.find(loose_name(plain));
  if (loose == loose_.end() || loose->second.empty()) return std::nullopt;
  return loose->second;
}

std::vector<std::optional<fs::path>> ListedFiles::find_listed(const std::vector<ListedImage>& list) {
  std::vector<std::string> written;
  for (const ListedImage& image : list) written.push_back(image.image);
  std::vector<std::optional<fs::path>> found = find_all(written);
  std::map<fs::path, const ListedImage*> seen;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!found[i] || list[i].image.empty()) continue;
    const ListedImage& first = *seen.emplace(found[i]->lexically_normal(), &list[i]).first->second;
    if (first.class_name != list[i].class_name)
      fail("{}: the image {} has two classes, '{}' here and '{}' at {} as {}; give it one", list[i].where,
           excerpt(list[i].image), excerpt(list[i].class_name), excerpt(first.class_name), first.where,
           excerpt(first.image));
  }
  return found;
}

namespace {

/// Ranks names that such lists usually have before all others.
int usual_place(const fs::path& path) {
  constexpr std::string_view kUsual[] = {"metadata", "labels", "train", "annotations", "classes", "images"};
  const std::string stem = path.stem().string();
  const auto* found = std::find(std::begin(kUsual), std::end(kUsual), stem);
  return static_cast<int>(found - std::begin(kUsual));
}

std::vector<fs::path> files_that_may_be_lists(const fs::path& folder) {
  constexpr uintmax_t kLargest = uintmax_t{256} << 20;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (is_list_file(it->path()) && it->file_size(ignored) < kLargest) files.push_back(it->path());
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(usual_place(a), a) < std::pair(usual_place(b), b);
  });
  return files;
}

/// Whether the first images of the list exist: other tables have columns with such names too.
bool lists_images_in(const std::vector<ListedImage>& list, const fs::path& folder) {
  constexpr size_t kTried = 20;
  ListedFiles files(folder);
  for (size_t i = 0; i < std::min(list.size(), kTried); ++i) {
    if (files.find(list[i].image)) return true;
  }
  return false;
}

bool has_class_folder(const std::vector<ListedImage>& list, const fs::path& folder) {
  std::set<std::string> names;
  for (const ListedImage& image : list) names.insert(image.class_name);
  const auto is_class = [&](const fs::path& file) { return names.count(file.filename().string()) > 0; };
  for (const fs::path& file : folders_in(folder)) {
    const std::vector<fs::path> within = folders_in(file);
    if (is_class(file) || std::any_of(within.begin(), within.end(), is_class)) return true;
  }
  return false;
}

/// Returns the cells of a line, whatever separates them.
std::vector<std::string> rough_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',' || c == ';' || c == '\t')
      cells.emplace_back();
    else if (c != '"' && c != '\r')
      cells.back() += c;
  }
  return cells;
}

/// Whether a CSV that cannot be read has the columns of a list (not of boxes or answers), and no cell has the name of a
/// folder that may be a class: reading the folders instead would make unintended classes of them.
bool is_broken_list(const fs::path& path, const fs::path& folder) {
  constexpr int64_t kMostLines = 100'000;
  const std::string suffix = lowercase(path.extension().string());
  if (suffix != ".csv" && suffix != ".tsv") return false;
  std::set<std::string> folders;
  for (const fs::path& each : folders_in(folder)) folders.insert(each.filename().string());
  bool is_list = false;
  for_each_line(path, [&](int64_t number, std::string_view line) {
    const std::vector<std::string> cells = rough_cells(line);
    const auto is_box = [](const std::string& cell) {
      const std::string word = list_words::plain_word(cell);
      return word == "x" || word == "xmin" || word == "width" || word.rfind("bbox", 0) == 0 || word == "probability";
    };
    const bool is_header = number == 1;
    if (is_header)
      is_list = list_words::image_column(cells) && list_words::class_column(cells) &&
                list_words::image_column(cells) != list_words::class_column(cells) &&
                std::none_of(cells.begin(), cells.end(), is_box);
    else if (std::any_of(cells.begin(), cells.end(), [&](const auto& cell) { return folders.count(cell) > 0; }))
      is_list = false;
    return is_list && number < kMostLines;
  });
  return is_list;
}

/// Whether a CSV's rows cannot be read, one has no class, or two give an image different ones; other errors make a
/// table another kind.
bool has_broken_rows(const fs::path& path) {
  try {
    const CsvTable table = read_csv(path);
    const auto image = list_words::image_column(table.header), name = list_words::class_column(table.header);
    std::map<std::string, std::string> classes;
    return image && name && std::any_of(table.rows.begin(), table.rows.end(), [&](const CsvRow& row) {
             const std::string own(trimmed(row.cells[*name]));
             return own.empty() || classes.emplace(row.cells[*image], own).first->second != own;
           });
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

bool is_list_file(const fs::path& path) {
  constexpr std::string_view kSuffixes[] = {".csv", ".tsv", ".jsonl", ".json", ".CSV"};
  std::error_code ignored;
  return std::count(std::begin(kSuffixes), std::end(kSuffixes), path.extension().string()) > 0 &&
         fs::is_regular_file(path, ignored);
}

std::optional<fs::path> any_list_in(const fs::path& folder, const ListChoices& choices) {
  const Quiet quiet;
  for (const fs::path& path : files_that_may_be_lists(folder)) {
    try {
      if (!read_image_list(path, choices).empty()) return path;
    } catch (const Error&) {
      continue;  // another kind of table
    }
  }
  return std::nullopt;
}

std::optional<fs::path> image_list_in(const fs::path& folder, const ListChoices& choices) {
  const Quiet quiet;
  for (const fs::path& path : files_that_may_be_lists(folder)) {
    try {
      const std::vector<ListedImage> list = read_image_list(path, choices);
      if (lists_images_in(list, folder) && !has_class_folder(list, folder)) return path;
    } catch (const UndecidedList&) {
      throw;
    } catch (const Error&) {
      if (is_broken_list(path, folder) && has_broken_rows(path)) throw;
      continue;  // another kind of table
    }
  }
  return std::nullopt;
}

std::string why_no_list(const fs::path& folder, const ListChoices& choices) {
  const Quiet quiet;
  for (const fs::path& path : files_that_may_be_lists(folder)) {
    try {
      read_image_list(path, choices);
    } catch (const Error& error) {
      return error.what();
    }
  }
  return "";
}

}  // namespace protocom
