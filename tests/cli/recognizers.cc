#include "cli/recognizers.h"

#include <algorithm>
#include <sstream>

namespace protocom::testing {

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
  return all;
}

Outcome Recognizers::create(const std::string& file, const std::vector<std::string>& more,
                            const std::vector<std::string>& parts) {
  std::vector<std::string> arguments = {"recognizer", "create", file};
  arguments.insert(arguments.end(), more.begin(), more.end());
  for (const std::string& part : parts) {
    arguments.push_back("--" + part);
    arguments.push_back(out(part + ".npz").string());
  }
  return protocom(folder_->path(), arguments);
}

std::vector<std::string> Recognizers::create_with_classes(const std::string& file, size_t classes) {
  const Outcome made = create(file);
  EXPECT_EQ(made.exit_code, 0) << made.err;
  std::vector<std::string> images;
  for (const auto& [name, files] : images_by_class()) {
    if (images.size() == classes) break;
    images.push_back((out("images") / files[0]).string());
    EXPECT_EQ(protocom(folder_->path(), {"enrol", file, images.back(), "--class", name}).exit_code, 0);
  }
  return images;
}

std::vector<std::string> Recognizers::novel_classes() {
  std::vector<std::string> novel;
  std::istringstream split(read_text(out("images/split.csv")));
  for (std::string line; std::getline(split, line);) {
    if (line.find(",novel") != std::string::npos) novel.push_back(line.substr(0, line.find(',')));
  }
  return novel;
}

std::map<std::string, std::vector<std::string>> Recognizers::images_by_class() {
  std::map<std::string, std::vector<std::string>> by_class;
  for (const std::string& file : files_below(out("images"))) {
    if (file.find('/') != std::string::npos) by_class[file.substr(0, file.find('/'))].push_back(file);
  }
  return by_class;
}

int64_t Recognizers::images_in(const std::string& recognizer) {
  const Outcome listed = protocom(folder_->path(), {"examples", "list", recognizer, "--json"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  return std::count(listed.out.begin(), listed.out.end(), '\n');
}

}  // namespace protocom::testing
