#include "base/json_text.h"
#include "base/printed_json.h"
#include "cli.h"
#include "io/artefact_contents.h"
#include "io/files.h"
#include "store/recognizer_file.h"

namespace protocom::cli {
namespace {

using nlohmann::json;

struct ShowArguments {
  std::string file;
  bool as_json = false;
};

std::string text_of(const json& value) { return value.is_string() ? value.get<std::string>() : json_text(value); }

void print_object(const char* title, const json& object) {
  if (object.empty()) return;
  constexpr size_t kLongest = 160;  // --json shows long lists in full
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, value] : object.items()) {
    rows.push_back({"  " + key, excerpt(text_of(value), kLongest)});
  }
  fmt::print("\n{}\n", title);
  print_table(rows);
}

void print_readable(const std::string& file, const ArtefactContents& contents) {
  const json header = contents.header.to_json();
  print_table({{"file", file},
               {"kind", fmt::format("{}, format {}", header.at("kind").get<std::string>(),
                                    json_text(header.at("format_version")))},
               {"written by", fmt::format("protocom {} {}", header.at("program_version").get<std::string>(),
                                          header.at("command").get<std::string>())},
               {"seed", json_text(header.at("seed"))}});
  print_object("options", header.at("options"));
  print_object("inputs", header.at("inputs"));
  const auto findings = findings_in(contents.header);
  json details = header.at("details");
  if (!findings.empty()) details.erase("findings");
  print_object("details", details);
  if (!findings.empty()) fmt::print("\nfindings\n");
  for (const std::string& finding : findings) fmt::print("  {}\n", one_line(finding));
  std::vector<std::vector<std::string>> rows;
  for (const ArtefactMember& member : contents.members)
    rows.push_back({"  " + member.name, member.type, json_text(json(member.shape))});
  fmt::print("\nmembers\n");
  print_table(rows);
}

void print_json(const std::string& file, const ArtefactContents& contents) {
  json document = {
      {"file", file}, {"hash", hash_file(file)}, {"header", contents.header.to_json()}, {"members", json::array()}};
  for (const ArtefactMember& member : contents.members) {
    document["members"].push_back({{"name", member.name}, {"type", member.type}, {"shape", member.shape}});
  }
  fmt::print("{}\n", printed_json(document, 2));
}

/// Returns the content of a recognizer, an SQLite file: its artefacts and numbers of classes and images instead of
/// members.
ArtefactContents contents_of_recognizer(const std::string& path) {
  const RecognizerFile file(path, FileUse::kRead);
  ArtefactContents contents{file.header(), {}};
  for (const RecognizerArtefact& artefact : file.artefacts())
    contents.members.push_back({artefact.name, artefact.embedded ? "Bytes" : "outside", {artefact.size}});
  const RecognizerSettings& settings = file.settings();
  const auto examples = static_cast<int64_t>(file.list_examples("").size());
  contents.members.push_back({"classes", "Text", {static_cast<int64_t>(file.list_classes().size())}});
  contents.members.push_back(
      {"examples", std::string(to_string(settings.feature_type)), {examples, settings.feature_dim}});
  contents.members.push_back(
      {"unlabelled", std::string(to_string(settings.feature_type)), {file.count_unlabelled(), settings.feature_dim}});
  return contents;
}

bool is_database(const std::string& path) {
  constexpr std::string_view kBegin("SQLite format 3\0", 16);  // sqlite.org/fileformat.html, 1.3.1
  return std::filesystem::is_regular_file(path) && MappedFile(path).bytes().substr(0, kBegin.size()) == kBegin;
}

void run_show(const ShowArguments& options) {
  const ArtefactContents contents =
      is_database(options.file) ? contents_of_recognizer(options.file) : read_contents(options.file);
  options.as_json ? print_json(options.file, contents) : print_readable(options.file, contents);
}

void add_show_command(CLI::App& app) {
  auto options = std::make_shared<ShowArguments>();
  CLI::App* command = add_command(app, "show", "Show what a file of protocom contains and how it was made",
                                  "protocom show out/features.npz --json");
  add_input_option(*command, "file", options->file,
                   "Any artefact: recognizer, images, backbone, features, knowledge, completion model, results")
      ->required();
  command->add_flag("--json", options->as_json, "The header and members as JSON");
  command->callback([options] { run_show(*options); });
}

const Command kShow{Group::kFiles, 10, &add_show_command};

}  // namespace
}  // namespace protocom::cli
