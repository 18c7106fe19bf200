#include "protocom/serve/create_recognizer.h"

#include "protocom/core/error.h"
#include "protocom/core/log.h"
#include "protocom/knowledge/knowledge.h"
#include "protocom/nn/backbone.h"
#include "protocom/serve/store_model.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

void check_parts(const NewRecognizer& parts) {
  if (parts.backbone.empty()) fail_usage("a recognizer needs a backbone: give --backbone");
  if (parts.model.empty() == parts.fitted.empty())
    fail_usage(
        "a recognizer has a fitted method (protocom fit) or a completion model (protocom complete): give either "
        "--fitted or --model");
  if (!parts.model.empty() && parts.knowledge.empty())
    fail_usage("a completion model needs the knowledge that it was trained with: give --knowledge");
}

/// The backbone's sizes and preprocessing, which the model has to take.
void take_backbone(const NewRecognizer& parts, const StoreModel& model, RecognizerSettings& settings) {
  ForeignBackbone said;
  said.preprocessing = parts.preprocessing ? parts.preprocessing : model.preprocessing;
  const auto backbone = open_backbone(parts.backbone, said);
  if (model.feature_dim() != backbone->dim())
    fail("the backbone gives features of {} dimensions, the {} takes {}: it was made with another backbone",
         backbone->dim(), model.fitted ? "fitted method" : "completion model", model.feature_dim());
  if (const auto& trained = model.preprocessing; trained && !(*trained == backbone->preprocessing()))
    logger().warn("images are brought to '{}', those of the model's features were '{}'",
                  describe(backbone->preprocessing()), describe(*trained));
  settings.preprocessing = backbone->preprocessing();
  settings.feature_dim = backbone->dim();
}

/// The attributes and embeddings that descriptions of classes have.
void take_vocabulary(const NewRecognizer& parts, const StoreModel& model, RecognizerSettings& settings) {
  settings.attributes = model.attributes();
  if (parts.knowledge.empty()) {
    if (!settings.attributes.empty())
      fail_usage("the method was fitted with knowledge of the classes: give the same file with --knowledge");
    return;
  }
  settings.embedding_dim = read_knowledge(parts.knowledge).embedding_dim();
  if (model.completion && model.completion->network.options().embedding_dim != settings.embedding_dim)
    fail("{}: embeddings of {} dimensions, the completion model takes {}: it was trained with another knowledge file",
         parts.knowledge.string(), settings.embedding_dim, model.completion->network.options().embedding_dim);
}

std::vector<RecognizerArtefact> artefacts_of(const NewRecognizer& parts) {
  std::vector<RecognizerArtefact> artefacts = {{"backbone", parts.backbone}};
  artefacts.front().embedded = parts.keep_backbone == KeepBackbone::kInside;
  for (const auto& [name, path] :
       {std::pair{"model", parts.model}, {"fitted", parts.fitted}, {"knowledge", parts.knowledge}}) {
    if (!path.empty()) artefacts.push_back({name, path});
  }
  return artefacts;
}

}  // namespace

void create_recognizer(const fs::path& path, const NewRecognizer& parts, const Provenance& provenance) {
  check_parts(parts);
  RecognizerSettings settings;
  settings.feature_type = parts.feature_type;
  settings.thumbnail_side = parts.thumbnail_side;
  const StoreModel model = read_store_model(parts.fitted.empty() ? parts.model : parts.fitted);
  if (model.fitted) check_is_for_recognizers(model.fitted->method->spec());
  take_vocabulary(parts, model, settings);
  take_backbone(parts, model, settings);
  RecognizerFile::create(path, settings, artefacts_of(parts), provenance);
}

}  // namespace protocom
