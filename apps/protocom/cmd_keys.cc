#include "cli.h"
#include "http/api_keys.h"
#include "io/output_lock.h"

namespace protocom::cli {
namespace {

using http::ApiKeys;

struct KeysArguments {
  std::string file;
  http::ApiKey key;
};

ApiKeys read_or_new_keys(const KeysArguments& options) {
  std::error_code ignored;
  return std::filesystem::exists(options.file, ignored) ? ApiKeys::read(options.file) : ApiKeys();
}

void run_add(KeysArguments& options) {
  check_writable(options.file);
  const OutputLock lock(options.file);  // otherwise concurrent changes would be lost
  ApiKeys keys = read_or_new_keys(options);
  const std::string text = keys.add(options.key);
  keys.write(options.file);
  logger().info("the key is printed only once; {} holds its hash", options.file);
  fmt::print("{}\n", text);
}

void run_list(const KeysArguments& options) {
  std::vector<std::vector<std::string>> rows = {{"name", "role", "requests a minute"}};
  const ApiKeys keys = ApiKeys::read(options.file);
  for (const http::ApiKey& key : keys.all())
    rows.push_back({key.name, std::string(http::to_string(key.role)), std::to_string(key.per_minute)});
  print_table(rows);
}

void run_remove(const KeysArguments& options) {
  check_writable(options.file);
  const OutputLock lock(options.file);
  ApiKeys keys = ApiKeys::read(options.file);
  keys.remove(options.key.name);
  keys.write(options.file);
}

CLI::App* add_part(CLI::App& keys, const std::string& name, const std::string& what,
                   const std::shared_ptr<KeysArguments>& options) {
  CLI::App* command = keys.add_subcommand(name, what);
  add_input_option(*command, "file", options->file, "File of keys")->required();
  return command;
}

void add_keys_command(CLI::App& app) {
  auto options = std::make_shared<KeysArguments>();
  CLI::App* keys = add_command(app, "keys", "API keys of protocom serve",
                               "protocom keys add keys.json phone --role write\n"
                               "  protocom keys list keys.json\n"
                               "  protocom keys remove keys.json phone");
  keys->require_subcommand(1);
  CLI::App* add = add_part(*keys, "add", "Make a key and print it", options);
  add->add_option("name", options->key.name, "Name of the key, such as the user or device")->required();
  add_word(*add, "--role", options->key.role, &http::parse_role,
           "read: classify and list; write: also enrol, correct, calibrate, undo and redo")
      ->check(CLI::IsMember({"read", "write"}));
  add->add_option("--per-minute", options->key.per_minute, "Most requests per minute")->check(CLI::Range(1, 1'000'000));
  add->callback([options] { run_add(*options); });
  CLI::App* list = add_part(*keys, "list", "List keys", options);
  list->callback([options] { run_list(*options); });
  CLI::App* remove = add_part(*keys, "remove", "Remove a key; a running server refuses it from then on", options);
  remove->add_option("name", options->key.name, "Name of the key to remove")->required();
  remove->callback([options] { run_remove(*options); });
}

const Command kKeys{Group::kOwnPhotos, 120, &add_keys_command};

}  // namespace
}  // namespace protocom::cli
