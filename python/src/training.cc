#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <optional>

#include "base/error.h"
#include "calls.h"
#include "datasets/image_source.h"
#include "io/files.h"
#include "methods.h"
#include "training/complete.h"
#include "training/metatrain.h"
#include "training/pretrain.h"

namespace protocom::python {
namespace {

namespace fs = std::filesystem;

/// Takes `given[name]` if present; otherwise `value` keeps the library's default.
template <typename T>
void take(const py::dict& given, const char* name, T& value) {
  if (given.contains(name)) value = given[name].cast<T>();
}

void take_resume(const py::dict& given, TrainingFiles& files) {
  if (given.contains("resume") && given["resume"].cast<bool>()) files.resume = Resume::kIfThere;
}

/// Returns what a training writes and whom it notifies: `listener` must outlive it, and is only accessed while holding
/// the GIL.
TrainingFiles files_of(const char* command, const fs::path& out, const py::dict& given, const py::object& listener) {
  check_writable(out);
  TrainingFiles files;
  files.out = out;
  files.provenance.command = command;
  files.provenance.options =
      nlohmann::json::parse(py::module_::import("json").attr("dumps")(given).cast<std::string>());
  take(given, "seed", files.provenance.seed);
  take_resume(given, files);
  if (!listener.is_none()) {
    files.on_epoch = [&listener](const nlohmann::json& epoch) {
      const py::gil_scoped_acquire acquire;
      listener(python_of(epoch));
    };
  }
  return files;
}

ImageSource source_of(const fs::path& images, const py::dict& given) {
  ImageSource source;
  source.path = images;
  take(given, "image_size", source.sizes.image_size);
  if (given.contains("split")) source.dataset.split = given["split"].cast<fs::path>();
  return source;
}

py::dict pretrain_backbone(const fs::path& images, const fs::path& out, const py::dict& given,
                           const py::object& listener, py::object callback) {
  PretrainRecipe recipe;
  take(given, "architecture", recipe.backbone.architecture);
  take(given, "epochs", recipe.schedule.epochs);
  take(given, "learning_rate", recipe.schedule.learning_rate);
  take(given, "batch", recipe.batch);
  take(given, "validation_episodes", recipe.validation.episodes);
  take(given, "device", recipe.device);
  take(given, "seed", recipe.seed);
  const ImageSource source = source_of(images, given);
  TrainingFiles files = files_of("pretrain", out, given, listener);
  PythonProgress progress(std::move(callback));
  const PretrainResult made = unlocked([&] {
    const PackedImages packed = load_images(source, progress);
    files.provenance.inputs["images"] = packed.content_hash;
    return pretrain(packed, recipe, files, progress);
  });
  py::dict result;
  result["kept_epoch"] = made.best_epoch;
  return result;
}

py::dict complete_prototypes(const std::shared_ptr<const FeatureSet>& features, const SharedKnowledge& knowledge,
                             const fs::path& out, const py::dict& given, const py::object& listener,
                             py::object callback) {
  if (!knowledge) fail_usage("a completion training needs knowledge of the classes");
  CompleteRecipe recipe;
  take(given, "epochs", recipe.schedule.epochs);
  take(given, "batches", recipe.batches);
  take(given, "learning_rate", recipe.schedule.learning_rate);
  take(given, "shots", recipe.k_shot);
  take(given, "validation_episodes", recipe.validation.episodes);
  take(given, "seed", recipe.seed);
  const TrainingFiles files = files_of("complete", out, given, listener);
  PythonProgress progress(std::move(callback));
  const int64_t kept = unlocked([&] {
    const CompletionTraining made = train_completion({*features, *knowledge}, recipe, files, progress);
    write_completion_model(out, made.model, files.provenance, {{"kept_epoch", made.kept_epoch}});
    return made.kept_epoch;
  });
  py::dict result;
  result["kept_epoch"] = kept;
  return result;
}

MetatrainOptions metatrain_recipe(const py::dict& given) {
  MetatrainOptions recipe;
  take(given, "head", recipe.head);
  take(given, "ways", recipe.episode.n_way);
  take(given, "shots", recipe.episode.k_shot);
  take(given, "queries", recipe.episode.n_query);
  take(given, "epochs", recipe.schedule.epochs);
  take(given, "batches", recipe.batches);
  take(given, "episodes", recipe.episodes);
  take(given, "learning_rate", recipe.schedule.learning_rate);
  take(given, "validation_episodes", recipe.validation.episodes);
  take(given, "device", recipe.device);
  take(given, "seed", recipe.seed);
  return recipe;
}

/// Requires neither model nor knowledge for a head that completes nothing.
void check_head(const std::string& head, const std::optional<fs::path>& model, const SharedKnowledge& knowledge) {
  const bool completes = make_method(head)->spec().has(Need::kCompletionModel);
  if (completes && (!model || !knowledge))
    fail_usage("the head {} needs model and knowledge (only the head mean does not)", head);
  if (!completes && model) fail_usage("the head {} trains no completion model: leave out model", head);
}

py::dict metatrain_jointly(const fs::path& images, const fs::path& backbone_path, const std::optional<fs::path>& model,
                           const SharedKnowledge& knowledge, const fs::path& out, const py::dict& given,
                           const py::object& listener, py::object callback) {
  const MetatrainOptions recipe = metatrain_recipe(given);
  check_head(recipe.head, model, knowledge);
  ImageSource source = source_of(images, given);
  MetatrainFiles files;
  files.training = files_of("metatrain", out, given, listener);
  if (model) {
    files.model = out;
    files.model += ".model.npz";
  }
  PythonProgress progress(std::move(callback));
  const MetatrainResult made = unlocked([&] {
    EncoderFileOptions asked;
    asked.engine = Engine::kTorch;  // it is trained
    if (fs::is_regular_file(images)) asked.known_size = read_pack(images).image_size();
    const std::unique_ptr<Encoder> encoder = open_encoder(backbone_path, asked);
    source.sizes = encoder->preprocessing();
    const PackedImages packed = load_images(source, progress);
    files.training.provenance.inputs["images"] = packed.content_hash;
    std::optional<CompletionModel> completion;
    if (model) completion = read_completion_model(*model);
    const MetatrainInputs inputs{packed, *encoder, completion ? &*completion : nullptr, knowledge.get()};
    return metatrain(inputs, recipe, files, progress);
  });
  py::dict result;
  result["kept_epoch"] = made.kept_epoch;
  if (model) result["model"] = files.model.string();
  return result;
}

}  // namespace

void bind_training(py::module_& module) {
  module.def("pretrain", &pretrain_backbone);
  module.def("complete", &complete_prototypes);
  module.def("metatrain", &metatrain_jointly);
}

}  // namespace protocom::python
