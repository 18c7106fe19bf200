#include "run/plan.h"

#include <algorithm>
#include <set>

#include "base/near_matches.h"
#include "cli.h"
#include "encoders/installed_encoders.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

/// The key that moves a stage after those of another kind: features of a tuned backbone are extracted after metatrain.
constexpr const char* kAfter = "after";

/// An artefact of one stage that later ones read under the same option name.
struct Product {
  const char* option;  ///< of the stages that read it
  const char* file;    ///< in the folder of artefacts
};

/// A kind of stage of `run`; its options are those of the command.
struct StageKind {
  const char* command;
  const char* output;  ///< the option that names its artefact
  const char* file;    ///< and its default file
  std::vector<Product> products;
  std::vector<const char*> reads;  ///< the options it takes from earlier stages
};

const std::vector<StageKind>& stage_kinds() {
  static const std::vector<StageKind> kKinds = {
      {"synth",
       "out",
       "images",
       {{"images", "images"}, {"split", "images/split.csv"}, {"csv", "images/attributes.csv"}},
       {}},
      {"pack", "out", "images.pack", {{"images", "images.pack"}, {"split", "split.csv"}}, {"images", "split"}},
      {"knowledge", "out", "knowledge.npz", {{"knowledge", "knowledge.npz"}}, {"csv", "split"}},
      {"pretrain", "out", "backbone.npz", {{"backbone", "backbone.npz"}}, {"images"}},
      {"extract", "out", "features.npz", {{"features", "features.npz"}}, {"images", "backbone"}},
      {"complete", "out", "model.npz", {{"model", "model.npz"}}, {"features", "knowledge"}},
      {"metatrain",
       "out",
       "joint.npz",
       {{"backbone", "joint.npz"}, {"model", "joint.npz.model.npz"}},
       {"images", "backbone", "knowledge", "model"}},
      {"fit", "out", "fitted.npz", {{"fitted", "fitted.npz"}}, {"features", "knowledge"}},
      {"tune", "out", "tuned.json", {{"tuned", "tuned.json"}}, {"features", "knowledge", "model"}},
      {"evaluate",
       "json",
       "results.json",
       {{"results", "results.json"}},
       {"features", "knowledge", "model", "fitted", "tuned"}},
      // The report takes folders of analyses as results.
      {"analyse", "out", "analysis", {{"results", "analysis"}}, {"images", "features", "knowledge", "model", "fitted"}},
      {"report", "out", "report.html", {}, {"results"}}};
  return kKinds;
}

std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const StageKind& kind : stage_kinds()) names.emplace_back(kind.command);
  return names;
}

const StageKind& kind_of(const RunConfig& config, const StageConfig& table) {
  for (const StageKind& kind : stage_kinds()) {
    if (table.command == kind.command) return kind;
  }
  fail_usage("{}: unknown table [{}]{} (stages: {})", config.where(table.line), table.command,
             did_you_mean(table.command, stage_names()), fmt::join(stage_names(), ", "));
}

/// Returns nullptr for an unknown command.
CLI::App* subcommand(CLI::App& app, const std::string& name) {
  for (CLI::App* item : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (item->get_name() == name) return item;
  }
  return nullptr;
}

/// Returns the parser of a stage's command; `source = "wordnet"` chooses among subcommands.
CLI::App* find_command(CLI::App& app, const RunConfig& config, const StageConfig& table, Stage& stage) {
  CLI::App* command = subcommand(app, table.command);
  if (command == nullptr)
    fail_usage("{}: command '{}' is not part of this build: build with LibTorch (without TORCH=0)",
               config.where(table.line), table.command);
  stage.command = {table.command};
  std::vector<std::string> names;
  for (const CLI::App* item : command->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(item->get_name());
  if (names.empty()) return command;
  const auto source = table.values.find("source");
  if (source == table.values.end())
    fail_usage("{}: [{}] needs source = one of {}", config.where(table.line), table.command, fmt::join(names, ", "));
  const std::string& name = source->second.values.front();
  CLI::App* chosen = subcommand(*command, name);
  if (chosen == nullptr) {
    fail_usage("{}: unknown source '{}' of [{}], expected one of {}{}", config.where(source->second.line), name,
               table.command, fmt::join(names, ", "), did_you_mean(name, names));
  }
  stage.command.push_back(name);
  return chosen;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option != command.get_help_ptr()) names.push_back(long_name(*option));
  }
  return names;
}

/// Returns nullptr if the command has no such option.
const CLI::Option* option_named(const CLI::App& command, const std::string& name) {
  for (const CLI::Option* option : command.get_options()) {
    if (long_name(*option) == name) return option;
  }
  return nullptr;
}

bool has(const CLI::App& command, const std::string& name) { return option_named(command, name) != nullptr; }

std::string beside(const fs::path& folder, const std::string& path) {
  return fs::path(path).is_absolute() ? path : (folder / path).lexically_normal().string();
}

/// Replaces ${out} at the beginning of a path by the folder of the artefacts.
std::string resolve(const RunConfig& config, const fs::path& folder, const std::string& path) {
  const std::string out = kOutVariable;
  if (path.rfind(out, 0) != 0) return beside(folder, path);
  return (config.out / fs::path(path.substr(out.size())).relative_path()).lexically_normal().string();
}

/// Connects the stages in order.
class Planner {
 public:
  explicit Planner(const RunConfig& config) : config_(config), config_folder_(config.file.parent_path()) {}

  Stage plan(const StageConfig& table);

 private:
  [[nodiscard]] std::string input(const std::string& option, const std::string& text) const;
  void take_values(const StageConfig& table, const CLI::App& command, Stage& stage);
  void wire(const StageKind& kind, const CLI::App& command, Stage& stage);
  void offer(const StageKind& kind, const CLI::App& command, Stage& stage);
  void check(const Stage& stage) const;
  [[nodiscard]] std::string artefact_name(const StageKind& kind, const StageConfig& table) const;

  const RunConfig& config_;
  fs::path config_folder_;
  std::map<std::string, ConfigValue> available_;  // option -> artefacts of the stages so far
  std::set<std::string> ids_;
};

Stage Planner::plan(const StageConfig& table) {
  const StageKind& kind = kind_of(config_, table);
  const auto app = make_stage_app();
  Stage stage;
  stage.line = table.line;
  stage.id = table.name.empty() ? table.command : table.command + "-" + table.name;
  if (!ids_.insert(stage.id).second) {
    fail_usage("{}: duplicate [{}]; give each another name = \"...\"", config_.where(table.line), table.command);
  }
  const CLI::App& command = *find_command(*app, config_, table, stage);
  take_values(table, command, stage);
  const auto own = stage.options.find(kind.output);
  stage.artefact =
      own != stage.options.end() ? fs::path(own->second.values.front()) : config_.out / artefact_name(kind, table);
  stage.options[kind.output] = {{stage.artefact.string()}, false, table.line};
  wire(kind, command, stage);
  offer(kind, command, stage);
  stage.can_resume = has(command, "resume");
  if (has(command, "seed"))
    stage.options.try_emplace("seed", ConfigValue{{std::to_string(config_.seed)}, false, table.line});
  for (const auto& [name, value] : stage.options) {
    const CLI::Option* option = option_named(command, name);
    if (option != nullptr && is_input(*option)) stage.inputs.push_back(name);
    if (option != nullptr && is_output(*option)) stage.outputs.push_back(name);
    if (command.get_option_no_throw("--" + name) == nullptr) stage.positionals.push_back(name);
  }
  check(stage);
  return stage;
}

std::string Planner::artefact_name(const StageKind& kind, const StageConfig& table) const {
  const fs::path file = kind.file;
  return table.name.empty() ? file.string() : file.stem().string() + "-" + table.name + file.extension().string();
}

/// Returns a path, relative to the configuration; for an encoder named as installed, its path.
std::string Planner::input(const std::string& option, const std::string& text) const {
  const std::string path = resolve(config_, config_folder_, text);
  std::error_code ignored;
  const bool is_name = option == "backbone" && !fs::exists(path, ignored) && text.find('/') == std::string::npos;
  if (!is_name) return path;
  for (const InstalledEncoder& one : installed_encoders().encoders) {
    if (one.name == text) return one.path.string();
  }
  return path;
}

void Planner::take_values(const StageConfig& table, const CLI::App& command, Stage& stage) {
  for (const auto& [name, given] : table.values) {
    if (name == kAfter || (name == "source" && stage.command.size() > 1)) continue;
    const CLI::Option* option = option_named(command, name);
    if (option == nullptr) {
      fail_usage("{}: [{}] has no option '{}'{}", config_.where(given.line), table.command, name,
                 did_you_mean(name, option_names(command)));
    }
    if (given.values == std::vector<std::string>{""}) continue;  // an optional variable that is not set
    ConfigValue value = given;
    for (std::string& text : value.values) {
      if (is_input(*option)) text = input(name, text);
      if (is_output(*option)) text = resolve(config_, config_.out, text);
    }
    stage.options[name] = std::move(value);
  }
}

void Planner::wire(const StageKind& kind, const CLI::App& command, Stage& stage) {
  for (const char* option : kind.reads) {
    const auto found = available_.find(option);
    // A dataset's own division already states the split.
    const bool stated = std::string(option) == "split" && stage.options.count("standard-split") > 0;
    if (found != available_.end() && has(command, option) && !stated) stage.options.try_emplace(option, found->second);
  }
}

void Planner::offer(const StageKind& kind, const CLI::App& command, Stage& stage) {
  for (const Product& product : kind.products) {
    const std::string file = product.file;
    const bool follows = file.rfind(kind.file, 0) == 0;  // the artefact, or a file named after it
    const fs::path path =
        follows ? fs::path(stage.artefact.string() + file.substr(std::string(kind.file).size())) : config_.out / file;
    if (std::string(product.option) == "split" && has(command, "save-split")) {
      stage.options.try_emplace("save-split", ConfigValue{{path.string()}, false, stage.line});
    }
    std::vector<std::string> values = {path.string()};
    // Several results of the same kind (1-shot, 5-shot) are all passed on.
    const auto before = available_.find(product.option);
    const bool repeated = std::string(product.option) == "results" && before != available_.end();
    if (repeated) values.insert(values.begin(), before->second.values.begin(), before->second.values.end());
    available_[product.option] = {values, false, stage.line};
  }
}

/// Parses the stage's command line without running it, so that every mistake is reported before the first stage runs.
void Planner::check(const Stage& stage) const {
  struct Parsed {};
  const auto app = make_stage_app();
  app->parse_complete_callback([] { throw Parsed(); });
  try {
    parse_and_run(*app, stage.arguments());
  } catch (const Parsed&) {
  } catch (const CLI::ParseError& error) {
    fail_usage("{}: [{}] {}", config_.where(stage.line), stage.command.front(), describe_parse_error(*app, error));
  }
}

size_t stage_rank(const std::string& command) {
  const auto& kinds = stage_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const StageKind& kind) { return command == kind.command; });
  return static_cast<size_t>(found - kinds.begin());
}

/// Returns the order of a stage: that of stage_kinds(), but with `after`, right after all stages of that kind.
size_t stage_order(const RunConfig& config, const StageConfig& table) {
  const auto after = table.values.find(kAfter);
  if (after == table.values.end()) return 2 * stage_rank(table.command);
  const std::string& command = after->second.values.front();
  const size_t place = stage_rank(command);
  if (place == stage_kinds().size())
    fail_usage("{}: after: unknown stage '{}'{} (stages: {})", config.where(after->second.line), command,
               did_you_mean(command, stage_names()), fmt::join(stage_names(), ", "));
  return 2 * place + 1;
}

}  // namespace

std::vector<std::string> Stage::arguments() const {
  std::vector<std::string> arguments = command;
  std::vector<std::string> last;
  for (const auto& [name, value] : options) {
    if (value.is_flag) {
      if (value.values.front() == "true") arguments.push_back("--" + name);
      continue;
    }
    const bool positional = std::find(positionals.begin(), positionals.end(), name) != positionals.end();
    for (const std::string& text : value.values)
      (positional ? last : arguments).push_back(positional ? text : fmt::format("--{}={}", name, text));
  }
  arguments.insert(arguments.end(), last.begin(), last.end());
  return arguments;
}

std::string Stage::command_line() const {
  std::string text = "protocom";
  for (const std::string& argument : arguments()) {
    const bool plain = argument.find_first_of(" \t'\"$\\*?()<>|&;") == std::string::npos;
    text += " " + (plain ? argument : "'" + argument + "'");
  }
  return text;
}

std::vector<Stage> plan_stages(const RunConfig& config) {
  std::vector<StageConfig> tables = config.stages;
  std::stable_sort(tables.begin(), tables.end(),
                   [&](const auto& a, const auto& b) { return stage_order(config, a) < stage_order(config, b); });
  Planner planner(config);
  std::vector<Stage> stages;
  for (const StageConfig& table : tables) stages.push_back(planner.plan(table));
  return stages;
}

}  // namespace protocom::cli
