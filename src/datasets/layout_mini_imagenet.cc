#include <fstream>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "datasets/detail/layout.h"
#include "io/csv.h"

namespace protocom::layout {
namespace fs = std::filesystem;
namespace {

/// Collects the three lists; remembers where each class and image was first named.
class MiniImageNetLists {
 public:
  explicit MiniImageNetLists(const Request& request) : request_(request), folder_(request.root / "images") {
    if (!fs::is_directory(folder_)) fail("no such folder: {}", folder_.string());
    for (const ImageItem& item : images_below(folder_, folder_)) present_.insert(item.id);
  }

  void add(const fs::path& csv, Split split) {
    const CsvTable table = read_csv(csv);
    const size_t file_column = table.column("filename");
    const size_t label_column = table.column("label");
    for (const CsvRow& row : table.rows) {
      if (request_.includes(row.cells[label_column]))
        add_image(row.cells[file_column], row.cells[label_column], split, table.where(row));
    }
  }

  std::vector<RawClass> take() {
    std::vector<RawClass> classes;
    for (auto& entry : classes_) classes.push_back(std::move(entry.second));
    return classes;
  }

 private:
  void add_image(const std::string& file, const std::string& label, Split split, const std::string& where) {
    if (present_.count(file) == 0) fail("{}: missing image {}", where, (folder_ / file).string());
    const auto [first, is_new_file] = listed_.emplace(file, where);
    if (!is_new_file) fail("{}: duplicate image {} (first at {})", where, file, first->second);
    const auto [owner, is_new_class] = classes_.try_emplace(label, RawClass{label, "", split, where, {}});
    if (!is_new_class && owner->second.split != split) {
      fail("{}: the class '{}' is in two splits: it is also at {}", where, label, owner->second.place.string());
    }
    owner->second.items.push_back({file, folder_ / file, 0});
  }

  const Request& request_;
  fs::path folder_;
  std::unordered_set<std::string> present_;
  std::unordered_map<std::string, std::string> listed_;
  std::map<std::string, RawClass> classes_;
};

bool begins_as_its_lists(const fs::path& csv) {
  std::ifstream file(csv);
  std::string header;
  std::getline(file, header);
  return header.rfind("filename,label", 0) == 0;
}

}  // namespace

bool is_mini_imagenet(const fs::path& root) {
  if (!fs::is_directory(root / "images") || !fs::exists(root / "train.csv")) return false;
  return fs::exists(root / "val.csv") || (fs::exists(root / "test.csv") && begins_as_its_lists(root / "train.csv"));
}

std::vector<RawClass> list_mini_imagenet(const Request& request) {
  MiniImageNetLists lists(request);
  lists.add(request.root / "train.csv", Split::kBase);
  lists.add(request.root / "val.csv", Split::kVal);
  lists.add(request.root / "test.csv", Split::kNovel);
  return lists.take();
}

}  // namespace protocom::layout
