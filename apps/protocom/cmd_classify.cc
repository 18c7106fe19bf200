#include <algorithm>
#include <map>

#include "cli.h"
#include "protocom/core/csv.h"
#include "protocom/data/image_files.h"
#include "protocom/features/embed.h"
#include "protocom/serve/class_scorer.h"

namespace protocom::cli {
namespace fs = std::filesystem;
namespace {

struct Options {
  std::string store, backbone, model, fitted, format = "table";
  std::vector<std::string> images;
  ClassScorerOptions scorer;
  ExtractOptions extract;
  int64_t top = 5;
  bool transductive = false;
};

/// "n01768244 (trilobite)"
std::string label(const ClassStore& store, const std::string& name) {
  const std::string& title = store.find(name)->description.title;
  return title.empty() || title == name ? name : fmt::format("{} ({})", name, title);
}

using Rankings = std::vector<std::vector<RankedClass>>;

void print_as_table(const ClassStore& store, const EmbeddedFiles& images, const Rankings& rankings) {
  std::vector<std::vector<std::string>> rows = {{"image", "class", "probability", "then"}};
  for (size_t i = 0; i < rankings.size(); ++i) {
    std::string others;
    for (size_t r = 1; r < rankings[i].size(); ++r) {
      others += fmt::format("{}{} {:.3f}", r == 1 ? "" : ", ", rankings[i][r].name, rankings[i][r].probability);
    }
    rows.push_back({images.paths[i].string(), label(store, rankings[i][0].name),
                    fmt::format("{:.3f}", rankings[i][0].probability), others});
  }
  print_table(rows);
}

void print_as_csv(const EmbeddedFiles& images, const Rankings& rankings) {
  fmt::print("image,rank,class,probability\n");
  for (size_t i = 0; i < rankings.size(); ++i) {
    for (size_t r = 0; r < rankings[i].size(); ++r) {
      fmt::print("{},{},{},{:.6f}\n", csv_cell(images.paths[i].string()), r + 1, csv_cell(rankings[i][r].name),
                 rankings[i][r].probability);
    }
  }
}

void print_as_json(const Options& options, const Method& method, const EmbeddedFiles& images,
                   const Rankings& rankings) {
  nlohmann::json results = nlohmann::json::array();
  for (size_t i = 0; i < rankings.size(); ++i) {
    nlohmann::json ranking = nlohmann::json::array();
    for (const RankedClass& one : rankings[i])
      ranking.push_back({{"class", one.name}, {"probability", one.probability}});
    results.push_back({{"image", images.paths[i].string()}, {"ranking", ranking}});
  }
  nlohmann::json unreadable = nlohmann::json::array();
  for (const UnreadableFile& one : images.unreadable)
    unreadable.push_back({{"image", one.path.string()}, {"reason", one.reason}});
  const nlohmann::json document = {{"store", options.store},
                                   {"method", method.label()},
                                   {"mode", method.spec().mode()},
                                   {"results", results},
                                   {"unreadable", unreadable}};
  // File names need not be UTF-8.
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// Warns where a method that expects balanced queries is given others: judged alone, most are of one class.
void warn_of_proportions(const ClassScorer& scorer, const ClassStore& store, const StoreModel& model,
                         const at::Tensor& features) {
  if (scorer.method().spec().assumes != Assumes::kBalancedQueries && scorer.method().spec().name != "gauss-fusion")
    return;
  const ClassScorer alone(store, model, {model.fitted ? model.default_method() : "mean-fusion"});
  const auto answers = rank_classes(alone.probabilities(features), alone.class_names(), 1);
  std::map<std::string, double> share;
  for (const auto& answer : answers) share[answer.front().name] += 100.0 / static_cast<double>(answers.size());
  const auto most =
      std::max_element(share.begin(), share.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const double expected = 100.0 / static_cast<double>(std::min(store.classes.size(), answers.size()));
  if (answers.size() < 4 || most->second < 2 * expected) return;
  logger().warn(
      "judged one by one, {:.0f} % of the {} images are '{}', where {} expects about {:.0f} % of each class: it loses "
      "where classes are not about equally frequent; leave --transductive out",
      most->second, answers.size(), most->first, scorer.method().label(), expected);
}

void run_classify(Options& options) {
  const ClassStore store = read_class_store(options.store);
  const StoreModel model = read_store_model(store, options.store, {{}, options.model, options.fitted, {}});
  if (options.transductive) options.scorer.method = model.transductive_method();
  const ClassScorer scorer(store, model, options.scorer);
  const FoundImages found = find_images(options.images);
  ForeignBackbone said;
  said.preprocessing = store.preprocessing;
  const auto backbone = open_backbone(locate(store.backbone, "backbone", options.store, options.backbone), said);
  EmbeddedFiles images = embed_files(*backbone, found.paths, options.extract, progress());
  images.unreadable.insert(images.unreadable.begin(), found.unreadable.begin(), found.unreadable.end());
  const at::Tensor probabilities = scorer.probabilities(images.features);
  if (!images.paths.empty()) warn_of_proportions(scorer, store, model, images.features);
  const Rankings rankings = rank_classes(probabilities, scorer.class_names(), options.top);
  if (options.format == "json")
    print_as_json(options, scorer.method(), images, rankings);
  else if (options.format == "csv")
    print_as_csv(images, rankings);
  else
    print_as_table(store, images, rankings);
  for (const UnreadableFile& one : images.unreadable) logger().error("{}", one.reason);
  if (found.skipped.total() > 0) logger().warn("{}", found.skipped.describe());
  if (!images.unreadable.empty())
    fail("{} of {} images could not be read", images.unreadable.size(), images.unreadable.size() + images.paths.size());
}

void add_classify_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, "classify", "Rank the classes of a store for each image",
                                  "protocom classify pets.store holiday/ --transductive --format csv");
  command->add_option("store", options->store, "Class store, see protocom enrol")->required();
  command->add_option("images", options->images, "Images, or folders that are walked")->required();
  CLI::Option* method = command->add_option("--method", options->scorer.method,
                                            "Method with its parameters, see protocom methods: mean-fusion:gamma=20; "
                                            "otherwise the store's fitted method, or mean-fusion");
  command
      ->add_flag("--transductive", options->transductive,
                 "The store's transductive method (plda-vb of a fitted plda, else gauss-fusion): all the images given "
                 "also help to place the classes; otherwise each is classified by itself")
      ->excludes(method);
  command->add_option("--format", options->format, "table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}));
  command->add_option("--top", options->top, "Classes shown for an image")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  command->add_option("--backbone", options->backbone, "The store's backbone, if it lies elsewhere now");
  command->add_option("--model", options->model, "The store's completion model, if it lies elsewhere now");
  command->add_option("--fitted", options->fitted, "The store's fitted method, if it lies elsewhere now");
  command->add_option("--batch", options->extract.batch, "Images a forward pass")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  command->add_option("--device", options->extract.device, "cpu, cuda, cuda:1 or auto");
  command->callback([options] { run_classify(*options); });
}

const Command kRegister{Order::kClassify, &add_classify_command};

}  // namespace
}  // namespace protocom::cli
