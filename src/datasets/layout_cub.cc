#include <algorithm>
#include <charconv>
#include <functional>
#include <unordered_map>

#include "base/error.h"
#include "datasets/detail/layout.h"
#include "io/files.h"

namespace protocom::layout {
namespace fs = std::filesystem;
namespace {

/// Visits every line of a CUB list, "12 some text": visit(line number, 12, "some text").
void for_each_entry(const fs::path& path, const std::function<void(int64_t, int64_t, std::string)>& visit) {
  for_each_line(path, [&](int64_t number, std::string_view line) {
    if (line.empty()) return true;
    int64_t index = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), index);
    const auto used = static_cast<size_t>(end - line.data());
    if (error != std::errc() || used + 1 >= line.size() || line[used] != ' ') {
      fail("{}:{}: expected a number, a space and a text, found '{}'", path.string(), number, line);
    }
    visit(number, index, std::string(line.substr(used + 1)));
    return true;
  });
}

/// "001.Black_footed_Albatross" -> "Black footed Albatross".
std::string class_title(const std::string& name) {
  const size_t dot = name.find('.');
  std::string title = dot == std::string::npos ? name : name.substr(dot + 1);
  for (char& c : title) {
    if (c == '_') c = ' ';
  }
  return title;
}

Split standard_split_of(int64_t index) {
  if (index % 2 == 0) return Split::kBase;
  return index % 4 == 1 ? Split::kVal : Split::kNovel;
}

struct ImageName {
  std::string name;
  int64_t line;
};

}  // namespace

fs::path cub_folder(const fs::path& root) {
  for (const fs::path& folder : {root, root / "CUB_200_2011"}) {
    if (fs::exists(folder / "images.txt") && fs::exists(folder / "image_class_labels.txt")) return folder;
  }
  return {};
}

std::vector<RawClass> list_cub(const Request& request) {
  const fs::path folder = cub_folder(request.root);
  if (folder.empty())
    fail("neither {0} nor {0}/CUB_200_2011 has images.txt and image_class_labels.txt", request.root.string());
  std::vector<RawClass> classes;
  for_each_entry(folder / "classes.txt", [&](int64_t line, int64_t index, const std::string& name) {
    const auto expected = static_cast<int64_t>(classes.size()) + 1;
    if (index != expected)
      fail("{}:{}: class number {}, expected {}", (folder / "classes.txt").string(), line, index, expected);
    classes.push_back({name, class_title(name), standard_split_of(index - 1), folder / "images" / name, {}});
  });
  std::unordered_map<int64_t, ImageName> names;
  for_each_entry(folder / "images.txt", [&](int64_t line, int64_t id, std::string name) {
    if (!names.emplace(id, ImageName{std::move(name), line}).second) {
      fail("{}:{}: duplicate image number {}", (folder / "images.txt").string(), line, id);
    }
  });
  const fs::path labels = folder / "image_class_labels.txt";
  for_each_entry(labels, [&](int64_t line, int64_t id, const std::string& text) {
    const auto image = names.find(id);
    if (image == names.end()) fail("{}:{}: image {} is not in images.txt", labels.string(), line, id);
    int64_t label = 0;
    std::from_chars(text.data(), text.data() + text.size(), label);
    if (label < 1 || label > static_cast<int64_t>(classes.size())) {
      fail("{}:{}: class '{}', expected 1..{}", labels.string(), line, text, classes.size());
    }
    RawClass& owner = classes[static_cast<size_t>(label - 1)];
    if (!request.includes(owner.name)) return;
    const fs::path path = folder / "images" / image->second.name;
    if (!fs::exists(path)) {
      fail("{}:{}: missing image {}", (folder / "images.txt").string(), image->second.line, path.string());
    }
    owner.items.push_back({image->second.name, path, 0});
  });
  classes.erase(std::remove_if(classes.begin(), classes.end(),
                               [&](const RawClass& listed) { return !request.includes(listed.name); }),
                classes.end());
  return classes;
}

}  // namespace protocom::layout
