#include <ATen/ATen.h>
#include <c10/core/ScalarType.h>

#include <optional>

#include "cli.h"
#include "protocom/core/json.h"
#include "protocom/core/npz.h"
#include "protocom/core/safetensors.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

struct Options {
  std::string file;
  bool as_json = false;
};

/// An array, list of texts or blob in a file.
struct Member {
  std::string name, type;
  std::vector<int64_t> shape;
};

Member describe(const std::string& name, const at::Tensor& tensor) {
  return {name, c10::toString(tensor.scalar_type()), tensor.sizes().vec()};
}

Member describe(const NpzReader& reader, const std::string& name) {
  try {
    return describe(name, reader.tensor(name));
  } catch (const Error&) {
  }
  try {
    return {name, "Text", {static_cast<int64_t>(reader.strings(name).size())}};
  } catch (const Error&) {
    return {name, "Bytes", {static_cast<int64_t>(reader.bytes(name).size())}};
  }
}

std::vector<Member> members_of(const fs::path& path) {
  std::vector<Member> members;
  std::optional<Safetensors> safetensors;
  try {
    safetensors = read_safetensors(path);
  } catch (const Error&) {
  }
  if (safetensors) {
    for (const auto& [name, tensor] : safetensors->tensors) members.push_back(describe(name, tensor));
    return members;
  }
  const NpzReader reader(path);
  for (const std::string& name : reader.names()) {
    if (name != "header.json") members.push_back(describe(reader, name));
  }
  return members;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void print_object(const char* title, const json& object) {
  if (object.empty()) return;
  constexpr size_t kLongest = 160;  // a long list is better read with --json
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, value] : object.items()) {
    rows.push_back({"  " + key, excerpt(text_of(value), kLongest)});
  }
  fmt::print("\n{}\n", title);
  print_table(rows);
}

void print_readable(const std::string& file, const json& header, const std::vector<Member>& members) {
  print_table(
      {{"file", file},
       {"kind", fmt::format("{}, format {}", header.at("kind").get<std::string>(), header.at("format_version").dump())},
       {"written by", fmt::format("protocom {} {}", header.at("program_version").get<std::string>(),
                                  header.at("command").get<std::string>())},
       {"seed", header.at("seed").dump()}});
  print_object("options", header.at("options"));
  print_object("inputs", header.at("inputs"));
  print_object("details", header.at("details"));
  std::vector<std::vector<std::string>> rows;
  for (const Member& member : members) rows.push_back({"  " + member.name, member.type, json(member.shape).dump()});
  fmt::print("\nmembers\n");
  print_table(rows);
}

/// The header and members of a JSON artefact (evaluate's results): its own keys.
bool read_json_artefact(const fs::path& path, json& header, std::vector<Member>& members) {
  const std::string text = read_file(path);
  if (text.empty() || text.front() != '{') return false;
  const json document = parse_json(text, path.string());
  if (!document.contains("header")) fail("{} has no protocom header", path.string());
  header = ArtefactHeader::from_json(document["header"], path.string()).to_json();
  for (const auto& [name, value] : document.items()) {
    if (name != "header") members.push_back({name, value.type_name(), {static_cast<int64_t>(value.size())}});
  }
  return true;
}

void run_show(const Options& options) {
  if (!fs::exists(options.file)) fail("{}: no such file", options.file);
  json header;
  std::vector<Member> members;
  const bool is_json =
      fs::path(options.file).extension() == ".json" && read_json_artefact(options.file, header, members);
  if (!is_json) {
    header = read_any_header(options.file).to_json();
    members = members_of(options.file);
  }
  if (!options.as_json) return print_readable(options.file, header, members);
  json document = {
      {"file", options.file}, {"hash", hash_file(options.file)}, {"header", header}, {"members", json::array()}};
  for (const Member& member : members) {
    document["members"].push_back({{"name", member.name}, {"type", member.type}, {"shape", member.shape}});
  }
  fmt::print("{}\n", document.dump(2, ' ', false, json::error_handler_t::replace));
}

void add_show_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, "show", "What a file that protocom wrote is and where it comes from",
                                  "protocom show out/features.npz --json");
  command
      ->add_option("file", options->file,
                   "Any artefact: images, backbone, features, knowledge, completion model, results, class store")
      ->required();
  command->add_flag("--json", options->as_json, "The header and members as JSON");
  command->callback([options] { run_show(*options); });
}

const Command kRegister{Order::kShow, &add_show_command};

}  // namespace
}  // namespace protocom::cli
