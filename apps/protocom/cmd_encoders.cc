#include "base/json_text.h"
#include "cli.h"
#include "encoders/add_encoder.h"
#include "encoders/installed_encoders.h"
#include "encoders/known_encoders.h"
#include "io/files_below.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct AddArguments {
  std::string name, path;
  bool replace = false;
};

/// Returns the bytes of a file, or of all files in a folder; 0 if it cannot be read.
uint64_t bytes_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    const uint64_t bytes = fs::file_size(path, ignored);
    return ignored ? 0 : bytes;
  }
  uint64_t sum = 0;
  for (const auto& entry : files_below(path)) sum += entry.file_size(ignored);
  return sum;
}

std::string megabytes(uint64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6); }

std::vector<std::string> texts_of(const std::vector<fs::path>& paths) {
  std::vector<std::string> texts;
  for (const fs::path& path : paths) texts.push_back(path.string());
  return texts;
}

std::string number_text(int64_t number) { return number > 0 ? std::to_string(number) : "-"; }

std::string percent_text(double percent) { return fmt::format("{:.1f}", percent); }

void print_installed(const InstalledEncoders& installed) {
  for (const std::string& folder : installed.unreadable) logger().warn("{}", folder);
  if (installed.encoders.empty()) {
    fmt::print("No encoder is installed in {}.\n", fmt::join(texts_of(encoder_folders()), ", "));
  } else {
    std::vector<std::vector<std::string>> rows = {{"installed", "size", "where"}};
    for (const InstalledEncoder& one : installed.encoders)
      rows.push_back({one.name, megabytes(bytes_of(one.path)), one.path.string()});
    print_table(rows);
  }
  if (installed.others.empty()) return;
  fmt::print("\nIgnored, since their names are not those of encoders: {}\n",
             fmt::join(texts_of(installed.others), ", "));
}

void print_known() {
  std::vector<std::vector<std::string>> rows = {
      {"known", "what it is", "MB", "licence", "pixels", "feature", "1-shot", "5-shot"}};
  for (const KnownEncoder& one : known_encoders()) {
    rows.push_back({one.name, one.about, number_text(one.megabytes), one.license, number_text(one.pixels),
                    number_text(one.dim), one.birds ? percent_text(one.birds->one_shot) : "-",
                    one.birds ? percent_text(one.birds->five_shot) : "-"});
  }
  print_table(rows);
  fmt::print(
      "\n1-shot, 5-shot: accuracy in percent, 5-way, inductive, by the class mean on CUB-100 "
      "(docs/results/own-photos.md); -: "
      "unknown.\n\n");
  rows = {{"known", "how to get it"}};
  for (const KnownEncoder& one : known_encoders()) rows.push_back({one.name, one.get});
  print_table(rows);
  fmt::print(
      "\nThen `protocom encoders add NAME PATH` installs it: --backbone NAME uses it, PROTOCOM_ENCODER=NAME makes it "
      "the default.\n");
}

json known_json(const KnownEncoder& one) {
  json fields = {{"name", one.name}, {"about", one.about}, {"licence", one.license}, {"get", one.get}};
  const auto number = [](int64_t value) { return value > 0 ? json(value) : json(nullptr); };
  fields["megabytes"] = number(one.megabytes);
  fields["pixels"] = number(one.pixels);
  fields["dim"] = number(one.dim);
  fields["birds"] =
      one.birds ? json{{"one_shot", one.birds->one_shot}, {"five_shot", one.birds->five_shot}} : json(nullptr);
  return fields;
}

void print_json(const InstalledEncoders& installed) {
  json out = {{"installed", json::array()}, {"known", json::array()}, {"default", default_encoder_name()}};
  for (const InstalledEncoder& one : installed.encoders)
    out["installed"].push_back({{"name", one.name}, {"path", one.path.string()}, {"bytes", bytes_of(one.path)}});
  for (const KnownEncoder& one : known_encoders()) out["known"].push_back(known_json(one));
  out["left_out"] = texts_of(installed.others);
  fmt::print("{}\n", json_text(out, 2));
}

void run_list(bool as_json) {
  const InstalledEncoders installed = installed_encoders();
  if (as_json) return print_json(installed);
  print_installed(installed);
  fmt::print("\nThe default is {}.\n\n", default_encoder_name());
  print_known();
}

void run_add(const AddArguments& options) {
  const auto twice = options.replace ? AddedTwice::kReplace : AddedTwice::kRefuse;
  const fs::path added = add_encoder(options.name, options.path, twice);
  fmt::print("{}: use it by --backbone {}\n", added.string(), options.name);
}

void add_add(CLI::App& parent) {
  auto options = std::make_shared<AddArguments>();
  CLI::App* command = add_command(parent, "add", "Install an encoder: copy a file or folder under a name",
                                  "protocom encoders add dinov2-small downloads/dinov2-small\n"
                                  "protocom encoders add mine encoder.onnx --replace");
  command->add_option("name", options->name, "Name for --backbone")->required();
  add_input_option(*command, "path", options->path, "File or folder of an encoder; it is checked first")->required();
  command->add_flag("--replace", options->replace, "Replace an encoder of that name");
  command->callback([options] { run_add(*options); });
}

void add_encoders_command(CLI::App& app) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = add_command(app, "encoders", "List encoders; install one from a file or folder",
                                  "protocom encoders\nprotocom encoders add mine encoder.onnx");
  command->add_flag("--json", *as_json, "As JSON");
  add_add(*command);
  command->callback([command, as_json] {
    if (command->get_subcommands().empty()) run_list(*as_json);
  });
}

const Command kEncoders{Group::kOwnPhotos, 15, &add_encoders_command};

}  // namespace
}  // namespace protocom::cli
