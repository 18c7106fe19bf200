#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/detail/box_reader.h"
#include "io/files.h"

namespace protocom::box_reader {
namespace fs = std::filesystem;
namespace {

/// Removes the quotes around a text; within single quotes '' is an apostrophe.
std::string unquoted(std::string_view text) {
  text = trimmed(text);
  const bool is_quoted =
      text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  if (!is_quoted) return std::string(text);
  const std::string inner(text.substr(1, text.size() - 2));
  return text.front() == '\'' ? replaced(inner, "''", "'") : inner;
}

/// Tracks quotes in an item in brackets: a quote counts at the beginning of a key or a value, or if it closes an open
/// one.
class Quotes {
 public:
  void begin_item() { *this = Quotes(); }
  void take(char c) {
    if (quote_ != 0) {
      if (c == quote_) closed_ = std::exchange(quote_, 0);
      return;
    }
    const char closed = std::exchange(closed_, 0);
    if (c == '\'' && closed == c) {  // two within single quotes are an apostrophe
      quote_ = c;
    } else if ((c == '"' || c == '\'') && begins_) {
      quote_ = c;
      begins_ = false;
    } else if (c == ':' && !after_colon_) {
      after_colon_ = begins_ = true;
    } else if (c != ' ' && c != '\t') {
      begins_ = false;
    }
  }
  [[nodiscard]] bool are_open() const { return quote_ != 0; }

 private:
  char quote_ = 0;
  char closed_ = 0;  // by the last character
  bool begins_ = true, after_colon_ = false;
};

/// Removes a comment: # at the beginning or after a space, outside quotes.
std::string_view without_comment(std::string_view line) {
  Quotes quotes;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool begins = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t';
    if (line[i] == '#' && begins && !quotes.are_open()) return line.substr(0, i);
    if (!quotes.are_open() && std::string_view("[{,-").find(line[i]) != std::string_view::npos) {
      quotes.begin_item();
    } else {
      quotes.take(line[i]);
    }
  }
  return line;
}

/// Returns the lines of the value of the member `names` in a YAML file.
std::vector<std::string> names_lines(const fs::path& path) {
  std::vector<std::string> lines;
  bool within = false;
  for_each_line(path, [&](int64_t, std::string_view whole) {
    const std::string_view line = without_comment(whole);
    if (trimmed(line).empty()) return true;
    const bool is_member = std::string_view(" \t-]}").find(line.front()) == std::string_view::npos;
    if (is_member) within = line.rfind("names:", 0) == 0;
    if (within) lines.emplace_back(is_member ? line.substr(std::string_view("names:").size()) : line);
    return true;
  });
  return lines;
}

/// Splits a list in brackets at commas; items may be quoted.
std::vector<std::string> items_in_brackets(std::string_view text) {
  std::vector<std::string> items(1);
  Quotes quotes;
  for (const char c : text.substr(1)) {
    if (!quotes.are_open() && (c == ']' || c == '}')) break;
    if (!quotes.are_open() && c == ',') {
      items.emplace_back();
      quotes.begin_item();
      continue;
    }
    quotes.take(c);
    items.back() += c;
  }
  if (trimmed(items.back()).empty()) items.pop_back();
  return items;
}

using ClassNames = std::map<int64_t, std::string>;

/// Names a class. Throws Error if it already has another name.
void name_class(int64_t number, const std::string& name, ClassNames& names) {
  const auto [found, is_new] = names.emplace(number, name);
  if (!is_new && found->second != name)
    fail("class {} has two names, '{}' and '{}'", number, excerpt(found->second), excerpt(name));
}

/// Adds a name: "3: cat" in a mapping, "- cat" or "cat" in a list, where the number is the count so far.
void add_name(std::string_view item, bool is_mapping, ClassNames& names) {
  item = trimmed(item);
  auto number = static_cast<int64_t>(names.size());
  if (is_mapping) {
    const size_t colon = std::min(item.find(':'), item.size());
    const double given = number_in(unquoted(item.substr(0, colon)));
    number = given >= 0 && given < 1e9 ? static_cast<int64_t>(given) : number;
    item.remove_prefix(std::min(colon + 1, item.size()));
  } else if (item.rfind("- ", 0) == 0) {
    item.remove_prefix(2);
  }
  name_class(number, unquoted(item), names);
}

/// Reads the member `names` of data.yaml: [cat, dog], {0: cat}, lines of "- cat" or of "0: cat".
ClassNames names_of_yaml(const fs::path& path) {
  const std::vector<std::string> lines = names_lines(path);
  ClassNames names;
  const std::string all = std::string(trimmed(fmt::format("{}", fmt::join(lines, " "))));
  if (all.empty()) return names;
  if (all.front() == '[' || all.front() == '{') {
    for (const std::string& item : items_in_brackets(all)) add_name(item, all.front() == '{', names);
    return names;
  }
  for (const std::string& line : lines) {
    if (!trimmed(line).empty()) add_name(line, all.front() != '-', names);
  }
  return names;
}

ClassNames names_of_lines(const fs::path& path) {
  ClassNames names;
  for_each_line(path, [&](int64_t, std::string_view line) {
    if (!trimmed(line).empty()) names[static_cast<int64_t>(names.size())] = trimmed(line);
    return true;
  });
  return names;
}

/// Returns the class names of the YAML if one is given, else those for the folder, or for its parent if it is a split.
ClassNames class_names(const fs::path& folder, const fs::path& yaml) {
  if (!yaml.empty()) return reading(yaml, [&] { return names_of_yaml(yaml); });
  for (const fs::path& place : {folder, fs::absolute(folder / "").parent_path().parent_path()}) {
    for (const char* name : {"data.yaml", "data.yml", "dataset.yaml"}) {
      const fs::path path = place / name;
      if (fs::exists(path)) return reading(path, [&] { return names_of_yaml(path); });
    }
    for (const char* name : {"classes.txt", "labels/classes.txt"}) {
      if (fs::exists(place / name)) return names_of_lines(place / name);
    }
  }
  logger().warn("{}: no data.yaml or classes.txt names the classes: using their numbers as names", folder.string());
  return {};
}

/// Parses the numbers of a line; NaN for anything else.
std::vector<double> parse_numbers(std::string_view line) {
  std::vector<double> numbers;
  for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    numbers.push_back(number_in(line.substr(0, end)));
    line.remove_prefix(end);
  }
  return numbers;
}

/// Returns the box around the corners of an outline, which follow the class.
ImageBox box_around(const std::vector<double>& line) {
  double left = line[1], right = line[1], top = line[2], bottom = line[2];
  for (size_t i = 1; i < line.size(); i += 2) {
    left = std::min(left, line[i]), right = std::max(right, line[i]);
    top = std::min(top, line[i + 1]), bottom = std::max(bottom, line[i + 1]);
    if (!std::isfinite(line[i]) || !std::isfinite(line[i + 1])) left = std::numeric_limits<double>::quiet_NaN();
  }
  return {left, top, right - left, bottom - top, true};
}

/// Whether a line is a tracker's: class, centre, size, confidence and the track's number. Corners are within the
/// picture.
bool is_tracked(const std::vector<double>& line) {
  if (line.size() != 7 || !(line[6] >= 1) || line[6] != std::floor(line[6]) || !(line[5] <= 1)) return false;
  const auto is_within = [](double centre, double size) { return centre - size / 2 >= 0 && centre + size / 2 <= 1; };
  return is_within(line[1], line[3]) && is_within(line[2], line[4]);
}

/// Takes a line: class, centre, size and sometimes a confidence; or class and three corners or more.
void take_line(const std::vector<double>& line, const std::string& image, const ClassNames& names,
               const std::string& where, Boxes& boxes) {
  const bool is_box = line.size() == 5 || line.size() == 6 || is_tracked(line);
  const bool is_outline = !is_box && line.size() > 6 && line.size() % 2 == 1;
  if (!is_box && !is_outline) return boxes.refuse(where, "expected class, centre and size, or class and corners");
  const bool whole = line[0] >= 0 && line[0] < 1e9 && line[0] == std::floor(line[0]);
  const int64_t number = whole ? static_cast<int64_t>(line[0]) : -1;
  const auto name = names.find(number);
  if (!whole || (!names.empty() && name == names.end())) return boxes.refuse(where, "a class without a name");
  const ImageBox box =
      is_outline ? box_around(line) : ImageBox{line[1] - line[3] / 2, line[2] - line[4] / 2, line[3], line[4], true};
  boxes.take({image, box, names.empty() ? std::to_string(number) : name->second,
              line.size() == 6 || is_tracked(line) ? line[5] : 1},
             where);
}

/// Returns "images/train/a" for "labels/train/a.txt".
std::string image_of(const fs::path& text, const fs::path& folder) {
  fs::path image;
  for (const fs::path& part : text.lexically_relative(folder)) image /= part == "labels" ? fs::path("images") : part;
  return image.replace_extension().generic_string();
}

fs::path above_labels(const fs::path& folder) {
  const fs::path plain = folder.has_filename() ? folder : folder.parent_path();
  return plain.filename() == "labels" ? fs::absolute(plain).parent_path() : folder;
}

/// Whether the first line of a text is one of YOLO's: a class, and the four numbers of a box or more.
bool is_label_text(const fs::path& path) {
  bool is_label = false;
  for_each_line(path, [&](int64_t, std::string_view line) {
    const std::vector<double> numbers = parse_numbers(line);
    is_label =
        numbers.size() > 4 && std::all_of(numbers.begin(), numbers.end(), [](double n) { return std::isfinite(n); });
    return numbers.empty();
  });
  return is_label;
}

/// Throws Error for a folder without labels: it names a folder of labels that has another name, or what is expected.
[[noreturn]] void refuse_without_labels(const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const fs::path& text = it->path();
    if (text.extension() == ".txt" && it->is_regular_file(ignored) && is_label_text(text))
      fail("{}: YOLO's labels are read from a folder with the name labels: rename the folder {} (found {})",
           folder.string(), fs::absolute(text).parent_path().filename().string(), text.string());
  }
  fail("{} has no boxes: expected YOLO's labels/*.txt, Pascal VOC's *.xml or COCO's annotations/*.json",
       folder.string());
}

}  // namespace

std::vector<fs::path> yolo_texts(const fs::path& given) {
  const fs::path folder = above_labels(given);
  std::vector<fs::path> texts;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    const fs::path id = it->path().lexically_relative(folder);
    const bool is_label = std::find(id.begin(), id.end(), "labels") != id.end();
    if (is_label && id.extension() == ".txt" && id.filename() != "classes.txt") texts.push_back(it->path());
  }
  if (error) fail("cannot list the folder {}: {}", folder.string(), error.message());
  std::sort(texts.begin(), texts.end());
  return texts;
}

void take_yolo(const fs::path& given, Boxes& boxes, const fs::path& yaml) {
  const fs::path folder = above_labels(given);
  const std::vector<fs::path> texts = yolo_texts(folder);
  if (texts.empty()) refuse_without_labels(given);
  const ClassNames names = class_names(folder, yaml);
  for (const fs::path& text : texts) {
    const std::string image = image_of(text, folder);
    for_each_line(text, [&](int64_t number, std::string_view line) {
      if (!trimmed(line).empty())
        take_line(parse_numbers(line), image, names, fmt::format("{}:{}", text.string(), number), boxes);
      return true;
    });
  }
}

}  // namespace protocom::box_reader
