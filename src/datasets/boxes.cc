#include "datasets/boxes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/near_matches.h"
#include "base/text.h"
#include "datasets/box_layouts.h"
#include "datasets/detail/box_reader.h"
#include "datasets/detail/list_words.h"
#include "io/csv.h"
#include "io/files.h"
#include "io/json.h"
#include "io/memory_file.h"

namespace protocom {
namespace fs = std::filesystem;
namespace box_reader {

namespace {

constexpr size_t kNamed = 5;
constexpr std::string_view kDetectorKinds[] = {"animal", "person", "vehicle", ""};

bool is_detector_kind(const std::string& kind) {
  const std::string small = lowercase(kind);
  return std::find(std::begin(kDetectorKinds), std::end(kDetectorKinds), small) != std::end(kDetectorKinds);
}

/// Returns a key that is equal for the same box of the same image.
std::string key_of(const PhotoBox& box) {
  return fmt::format("{}|{:a}|{:a}|{:a}|{:a}", box.image, box.box.x, box.box.y, box.box.width, box.box.height);
}

}  // namespace

Boxes::Boxes(const BoxChoice& choice) : choice_(choice) {
  for (const std::string& kind : choice.kinds) kinds_.push_back(lowercase(clean_name(kind)));
  if (!(choice.min_confidence >= 0 && choice.min_confidence <= 1))
    fail_usage("confidence: expected a number from 0 to 1, found {}", choice.min_confidence);
  if (!(choice.margin >= 0 && choice.margin <= 1))
    fail_usage("box margin: expected a number from 0 to 1, found {}", choice.margin);
}

bool Boxes::is_asked_for(const std::string& kind) const {
  return kinds_.empty() || std::find(kinds_.begin(), kinds_.end(), lowercase(kind)) != kinds_.end();
}

void Boxes::refuse(const std::string& where, const std::string& reason) {
  if (refused_.size() < kNamed) refused_.push_back(fmt::format("{}: {}", where, reason));
  ++refused_count_;
}

void Boxes::list_failure(const std::string& name) { failures_.push_back(name); }

/// Merges kinds whose names look alike, and logs it.
void Boxes::take_kind(PhotoBox& box) {
  std::string written = std::exchange(box.kind, clean_name(box.kind));
  const auto [known, is_new] = all_kinds_.emplace(box.kind, written);
  if (!is_new && known->second != written && merged_kinds_.size() < kNamed)
    merged_kinds_.insert(fmt::format("'{}' and '{}'", excerpt(known->second), excerpt(written)));
}

void Boxes::take(PhotoBox box, const std::string& where) {
  take_kind(box);
  box.box.margin = choice_.margin;
  std::string wrong = wrong_box(box.box);
  if (wrong.empty() && !std::isfinite(box.confidence)) wrong = "a confidence that is not a number";
  if (wrong.empty() && box.image.empty()) wrong = "a box of no image";
  if (!wrong.empty()) return refuse(where, wrong);
  if (!is_asked_for(box.kind))
    ++others_;
  else if (box.confidence < choice_.min_confidence)
    ++unsure_;
  else
    box.where = where, file_.boxes.push_back(std::move(box));
}

/// Drops repeated boxes, and all of them if their kinds differ: the box would be an example of two classes.
void Boxes::drop_repeated() {
  std::unordered_map<std::string, size_t> first;
  std::vector<char> dropped(file_.boxes.size(), 0);
  for (size_t i = 0; i < file_.boxes.size(); ++i) {
    const auto [found, is_new] = first.emplace(key_of(file_.boxes[i]), i);
    if (is_new) continue;
    dropped[i] = 1;
    const std::string& kind = file_.boxes[i].kind;
    const std::string& other = file_.boxes[found->second].kind;
    if (kind == other) {
      ++repeated_;
    } else {
      dropped[found->second] = 1;
      refuse(file_.boxes[i].where, fmt::format("the box is of '{}' here and of '{}' at {}", excerpt(kind),
                                               excerpt(other), file_.boxes[found->second].where));
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < dropped.size(); ++i) {
    if (dropped[i] != 0) continue;
    if (kept != i) file_.boxes[kept] = std::move(file_.boxes[i]);
    ++kept;
  }
  file_.boxes.resize(kept);
}

void Boxes::check_kinds(const std::vector<std::string>& known) const {
  for (size_t i = 0; i < kinds_.size(); ++i) {
    const auto is_kind = [&](const std::string& kind) { return lowercase(kind) == kinds_[i]; };
    if (std::none_of(known.begin(), known.end(), is_kind))
      fail("{} has no box of the kind '{}', it has {}{}", choice_.file.string(), choice_.kinds[i],
           first_of(known, kNamed), did_you_mean(choice_.kinds[i], known));
  }
}

BoxFile Boxes::finish(bool kinds_may_be_classes) {
  std::vector<std::string> known;
  for (const auto& entry : all_kinds_) known.push_back(entry.first);
  check_kinds(known);
  drop_repeated();
  if (!merged_kinds_.empty())
    logger().warn("{}: kinds that differ only in spaces, or in how a letter is encoded, count as one: {}",
                  choice_.file.string(), fmt::join(merged_kinds_, ", "));
  if (refused_count_ > 0)
    logger().warn("{}: ignoring boxes that cannot be cut out, {}: {}{}", choice_.file.string(), refused_count_,
                  fmt::join(refused_, "; "), refused_count_ > static_cast<int64_t>(refused_.size()) ? "; ..." : "");
  if (!failures_.empty())
    logger().warn("{}: photos that the detector could not read have no box and need not be empty, {}: {}",
                  choice_.file.string(), failures_.size(), first_of(failures_, kNamed));
  if (repeated_ > 0) logger().warn("{}: duplicate boxes are used once: {}", choice_.file.string(), repeated_);
  if (unsure_ + others_ > 0)
    logger().info("{}: using {} boxes, ignoring {} of a confidence below {} and {} of other kinds",
                  choice_.file.string(), file_.boxes.size(), unsure_, choice_.min_confidence, others_);
  if (file_.boxes.empty())
    fail("{} has no usable box: {} are of a confidence below {}, {} of other kinds, {} cannot be cut out",
         choice_.file.string(), unsure_, choice_.min_confidence, others_, refused_count_);
  file_.kinds_are_classes = kinds_may_be_classes && !std::all_of(known.begin(), known.end(), is_detector_kind);
  return std::move(file_);
}

double number_in(std::string_view text) {
  const std::string_view plain = trimmed(text);
  const size_t comma = plain.find(',');
  const bool may_be_thousands = comma != std::string_view::npos && plain.size() - comma == 4 && plain.front() != '0';
  if (may_be_thousands) return std::numeric_limits<double>::quiet_NaN();  // "1,200" may be either number
  return number_from<double>(replaced(plain, ",", ".")).value_or(std::numeric_limits<double>::quiet_NaN());
}

std::string outside(const ImageBox& box, double width, double height) {
  const bool beyond = (width > 0 && box.x >= width) || (height > 0 && box.y >= height);
  return beyond ? fmt::format("a box outside the image, which has {} x {} pixels", width, height) : "";
}

namespace {

std::optional<size_t> column_among(const CsvTable& table, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    for (size_t c = 0; c < table.header.size(); ++c) {
      if (list_words::plain_word(table.header[c]) == word) return c;
    }
  }
  return std::nullopt;
}

/// The columns of a table of boxes.
struct BoxColumns {
  size_t image;
  size_t numbers[4];
  bool corners;  ///< the last two are the bottom right corner, else width and height
  std::optional<size_t> kind, confidence, width, height;  ///< of the picture
};

BoxColumns box_columns(const CsvTable& table) {
  const auto image = list_words::image_column(table.header);
  const auto left = column_among(table, {"xmin", "x1", "bboxleft", "bboxx", "left", "x"});
  const auto top = column_among(table, {"ymin", "y1", "bboxtop", "bboxy", "top", "y"});
  auto third = column_among(table, {"xmax", "x2", "bboxright", "right"});
  auto fourth = column_among(table, {"ymax", "y2", "bboxbottom", "bottom"});
  const bool corners = third && fourth;
  if (!corners) {
    third = column_among(table, {"bboxwidth", "bboxw", "width", "w"});
    fourth = column_among(table, {"bboxheight", "bboxh", "height", "h"});
  }
  if (!image || !left || !top || !third || !fourth)
    fail("{}:1: the columns are {}; expected image,x,y,width,height or image,xmin,ymin,xmax,ymax", table.path.string(),
         excerpt(fmt::format("{}", fmt::join(table.header, ", ")), 300));
  auto kind = list_words::class_column(table.header);
  if (kind == image) kind = std::nullopt;
  BoxColumns columns{*image, {*left, *top, *third, *fourth}, corners, kind, {}, {}, {}};
  columns.confidence = column_among(table, {"confidence", "conf", "score"});
  columns.width = column_among(table, {"filewidth", "imagewidth"});
  columns.height = column_among(table, {"fileheight", "imageheight"});
  if (corners && !columns.width) columns.width = column_among(table, {"width"});
  if (corners && !columns.height) columns.height = column_among(table, {"height"});
  return columns;
}

/// Whether the numbers are shares of the image's sides, which rounding makes a little larger than 1; no pixels of boxes
/// are that small.
bool are_shares(const CsvTable& table, const BoxColumns& columns) {
  constexpr double kLargest = 1.5;
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const CsvRow& row) {
    return std::all_of(std::begin(columns.numbers), std::end(columns.numbers),
                       [&](size_t column) { return !(number_in(row.cells[column]) > kLargest); });
  });
}

/// Returns why a box of a CSV in pixels is not taken; empty: it is, or take() has the reason. `width`, `height`: of the
/// picture, 0: unknown.
std::string wrong_pixels(const ImageBox& box, double width, double height) {
  const bool is_pixel = box.width > 0 && box.width <= 1 && box.height > 0 && box.height <= 1;
  if (is_pixel)
    return "a box of at most one pixel: if the row is in shares of the image, put shares and pixels into separate "
           "files";
  return outside(box, width, height);
}

/// Takes the boxes of a CSV; returns whether they have classes.
bool take_csv(const CsvTable& table, Boxes& boxes) {
  const BoxColumns columns = box_columns(table);
  const bool relative = are_shares(table, columns);
  for (const CsvRow& row : table.rows) {
    const auto number = [&](size_t i) { return number_in(row.cells[columns.numbers[i]]); };
    const auto number_or = [&](std::optional<size_t> c, double other) { return c ? number_in(row.cells[*c]) : other; };
    ImageBox box{number(0), number(1), number(2), number(3), relative};
    if (columns.corners) box.width -= box.x, box.height -= box.y;
    const std::string wrong =
        relative ? "" : wrong_pixels(box, number_or(columns.width, 0), number_or(columns.height, 0));
    const std::string image(trimmed(row.cells[columns.image]));
    if (!wrong.empty())
      boxes.refuse(table.where(row), wrong);
    else
      boxes.take({image, box, columns.kind ? row.cells[*columns.kind] : "", number_or(columns.confidence, 1)},
                 table.where(row));
  }
  return columns.kind.has_value();
}

/// Takes the boxes of a JSON; returns whether their kinds are classes.
bool take_json(const nlohmann::json& root, const fs::path& path, Boxes& boxes) {
  const bool coco = root.is_object() && root.contains("images") && root.contains("annotations");
  if (!coco && !is_megadetector(root))
    fail(
        "{}: expected JSON of MegaDetector (images, detection_categories) or of COCO (images, annotations, categories)",
        path.string());
  reading(path, [&] { coco ? take_coco(root, boxes) : take_megadetector(root, boxes); });
  return coco;
}

}  // namespace
}  // namespace box_reader

namespace {

bool is_xml(const fs::path& path) { return lowercase(path.extension().string()) == ".xml"; }

bool is_yaml(const fs::path& path) {
  const std::string suffix = lowercase(path.extension().string());
  return suffix == ".yaml" || suffix == ".yml";
}

std::vector<fs::path> xml_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (is_xml(it->path())) files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

BoxFile read_folder(const fs::path& folder, box_reader::Boxes& boxes) {
  const std::vector<fs::path> xml =
      box_reader::yolo_texts(folder).empty() ? xml_below(folder) : std::vector<fs::path>();
  for (const fs::path& file : xml) box_reader::take_voc(file, boxes);
  if (xml.empty()) box_reader::take_yolo(folder, boxes);
  return boxes.finish(true);
}

}  // namespace

BoxFile read_boxes(const BoxChoice& choice) {
  box_reader::Boxes boxes(choice);
  std::error_code ignored;
  fs::path file = choice.file;
  if (fs::is_directory(file, ignored)) {
    const fs::path beside = boxes_beside(file);
    if (beside.empty() || fs::is_directory(beside, ignored)) return read_folder(file, boxes);
    file = beside;
  }
  if (is_xml(file)) {
    box_reader::take_voc(file, boxes);
    return boxes.finish(true);
  }
  if (is_yaml(file)) {
    box_reader::take_yolo(file.has_parent_path() ? file.parent_path() : fs::path("."), boxes, file);
    return boxes.finish(true);
  }
  const bool is_json = lowercase(file.extension().string()) == ".json";
  return boxes.finish(is_json ? box_reader::take_json(read_json(file), file, boxes)
                              : box_reader::take_csv(read_csv(file), boxes));
}

namespace {

/// Reads a CSV from its bytes.
CsvTable csv_in(std::string_view bytes, const fs::path& name) {
  MemoryFile file(name.string());
  file.append(bytes);
  try {
    CsvTable table = read_csv(file.path());
    table.path = name;
    return table;
  } catch (const Error& error) {
    fail("{}", replaced(error.what(), file.path().string(), name.string()));
  }
}

}  // namespace

BoxFile read_boxes_in(std::string_view bytes, const BoxChoice& choice) {
  box_reader::Boxes boxes(choice);
  const std::string_view text = trimmed(bytes);
  if (!text.empty() && text.front() == '{')
    return boxes.finish(box_reader::take_json(parse_json(bytes, choice.file.string()), choice.file, boxes));
  return boxes.finish(box_reader::take_csv(csv_in(bytes, choice.file), boxes));
}

}  // namespace protocom
