#include "recognizer/renew_recognizer.h"

#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "encoders/embed.h"
#include "encoders/encoder.h"
#include "images/image_files.h"
#include "images/image_region.h"
#include "io/files.h"
#include "io/scratch_folder.h"
#include "recognizer/create_recognizer.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// Finds photos by the hashes of their files; boxes by that and the name of their file, which determines its boxes.
class PhotoFinder {
 public:
  explicit PhotoFinder(const std::vector<HeldPhoto>& photos) {
    for (const HeldPhoto& photo : photos) {
      missing_.insert(photo.hash);
      if (const ImageRegion region = region_of(photo.source); region.box)
        boxes_[region.file.filename()].push_back(region);
    }
  }

  void look_at(const fs::path& file) {
    std::error_code ignored;
    if (missing_.empty() || is_of_system(file) || !seen_.insert(file).second || !fs::is_regular_file(file, ignored))
      return;
    const std::string hash = hash_file(file);
    take(hash, file);
    const auto boxes = boxes_.find(file.filename());
    if (boxes == boxes_.end()) return;
    for (const ImageRegion& region : boxes->second) take(region_hash(hash, region), name_of({file, region.box}));
  }
  [[nodiscard]] bool has_all() const { return missing_.empty(); }
  [[nodiscard]] const std::map<std::string, fs::path>& found() const { return found_; }

 private:
  void take(const std::string& hash, const fs::path& photo) {
    if (missing_.erase(hash) > 0) found_[hash] = photo;
  }

  /// Whether a path, which may come from a foreign recognizer, is the system's instead of a photo's: reading there may
  /// never end.
  static bool is_of_system(const fs::path& file) {
    const std::string path = file.lexically_normal().string();
    return path.rfind("/proc/", 0) == 0 || path.rfind("/sys/", 0) == 0;
  }

  std::set<std::string> missing_;
  std::set<fs::path> seen_;
  std::map<fs::path, std::vector<ImageRegion>> boxes_;  // by file name without its folder
  std::map<std::string, fs::path> found_;               // by hash
};

/// Searches the photos' former paths first, which needs no walk through folders.
std::map<std::string, fs::path> find_photos(const std::vector<HeldPhoto>& photos,
                                            const std::vector<std::string>& places) {
  PhotoFinder finder(photos);
  for (const HeldPhoto& photo : photos) finder.look_at(region_of(photo.source).file);
  if (!finder.has_all() && !places.empty()) {
    const FoundImages all = find_images(places);
    for (const UnreadableFile& file : all.unreadable) logger().warn("{}", file.reason);
    for (const fs::path& file : all.paths) finder.look_at(file);
  }
  return finder.found();
}

/// Throws Error if an enrolled photo is missing; returns how many of the others are.
int64_t check_found(const std::vector<HeldPhoto>& photos, const std::map<std::string, fs::path>& found,
                    const fs::path& recognizer) {
  int64_t live = 0, missing = 0, forgotten = 0;
  const HeldPhoto* example = nullptr;
  for (const HeldPhoto& photo : photos) {
    const bool is_missing = found.count(photo.hash) == 0;
    live += photo.is_live;
    if (!is_missing) continue;
    ++(photo.is_live ? missing : forgotten);
    if (photo.is_live && example == nullptr) example = &photo;
  }
  if (missing > 0)
    fail(
        "{}: {} of its {} photos were not found, such as {} of '{}'; a recognizer holds features and thumbnails, and "
        "the new encoder needs the photos: give their folders (--images)",
        recognizer.string(), missing, live, example->source.empty() ? "one without a name" : example->source,
        example->class_name);
  return forgotten;
}

/// Returns requests for the photos as they would be enrolled, for choosing the encoder's preprocessing if nothing
/// states it.
std::vector<EnrolRequest> requests_of_photos(const std::vector<HeldPhoto>& photos,
                                             const std::map<std::string, fs::path>& found) {
  std::map<std::string, EnrolRequest> by_class;
  for (const HeldPhoto& photo : photos) {
    if (photo.class_name.empty()) continue;
    EnrolRequest& request = by_class[photo.class_name];
    request.name = photo.class_name;
    request.images.push_back(found.at(photo.hash).string());
  }
  std::vector<EnrolRequest> requests;
  for (auto& [name, request] : by_class) requests.push_back(std::move(request));
  return requests;
}

/// Throws UsageError if the method was fitted on features of the old encoder and no other is given, and if classes are
/// described by the old encoder's text encoder.
void check_method(const RecognizerFile& file, const RecognizerParts& parts) {
  const StoreModel model = read_store_model(file);
  const bool follows_photos = model.learns_from_unlabelled();
  if (follows_photos && file.artefact("knowledge") != nullptr)
    fail_usage(
        "{}: its classes are described by the text encoder of the old encoder: make a new recognizer with `protocom "
        "recognizer create --text-encoder`",
        file.path().string());
  if (!follows_photos && parts.fitted.empty() && parts.model.empty())
    fail_usage(
        "{}: its method was fitted on features of the old encoder: give one of the new encoder (--fitted, --model)",
        file.path().string());
}

/// Completes the parts of the renewed recognizer with what it keeps.
RecognizerParts parts_with_own(const RecognizerFile& file, RecognizerParts parts) {
  const RecognizerSettings& settings = file.settings();
  parts.half_features = settings.feature_type == FeatureType::kFloat16;
  parts.thumbnail_side = settings.thumbnail_side;
  parts.moments = settings.moments ? "auto" : "off";
  return parts;
}

FeaturesByHash embed_photos(const NewRecognizer& made, const std::map<std::string, fs::path>& found,
                            Progress& progress) {
  EncoderFileOptions asked;
  asked.preprocessing = made.settings.preprocessing;
  asked.output = made.parts.output;
  const auto encoder = open_encoder(made.parts.backbone, asked);
  ExtractOptions options;
  options.device = made.parts.device;
  std::vector<fs::path> paths;
  for (const auto& [hash, path] : found) paths.push_back(path);
  const EmbeddedFiles files = embed_files(*encoder, paths, options, progress);
  if (!files.unreadable.empty()) fail("{}", files.unreadable.front().reason);
  FeaturesByHash features;
  for (size_t i = 0; i < files.hashes.size(); ++i)
    features.emplace(files.hashes[i], files.features.row(static_cast<int64_t>(i)));
  return features;
}

/// Renews a recognizer. `parts.parts` includes its knowledge.
Renewal renew(const RecognizerFile& file, const fs::path& out, const RenewalParts& parts, const Provenance& provenance,
              Progress& progress) {
  Renewal done;
  const std::vector<HeldPhoto> photos = file.list_photos();
  const std::map<std::string, fs::path> found = find_photos(photos, parts.images);
  done.forgotten = check_found(photos, found, file.path());
  done.photos = static_cast<int64_t>(found.size());
  const ScratchFolder scratch;
  NewRecognizer made =
      prepare_recognizer(parts.parts, requests_of_photos(photos, found), provenance, scratch.path(), progress);
  if (!parts.parts.backbone_inside && made.artefacts.front().path.parent_path() == scratch.path())
    fail_usage("{} is a backbone of several files, which must be inside the recognizer: leave out --external-backbone",
               made.parts.backbone.string());
  made.settings.stated_moments = file.settings().stated_moments;
  done.feature_dim = made.settings.feature_dim;
  done.former_dim = file.settings().feature_dim;
  const FeaturesByHash features = found.empty() ? FeaturesByHash() : embed_photos(made, found, progress);
  file.write_renewed(out, made.settings, made.artefacts, provenance, features);
  return done;
}

/// Does the same, with the recognizer's own knowledge if none is given.
Renewal renew_with_knowledge(const RecognizerFile& file, const fs::path& out, RenewalParts parts,
                             const Provenance& provenance, Progress& progress) {
  if (!parts.parts.knowledge.empty() || file.artefact("knowledge") == nullptr)
    return renew(file, out, parts, provenance, progress);
  Renewal done;
  file.read_artefact("knowledge", [&](const fs::path& knowledge) {
    parts.parts.knowledge = knowledge;
    done = renew(file, out, parts, provenance, progress);
  });
  return done;
}

/// The threshold of "none of these" is set anew by the own photos alone.
void report_dropped(const Calibration& former, const fs::path& renewed) {
  if (former.similar || former.of_others)
    logger().warn("the threshold of 'none of these' that was set with {} is dropped: run protocom calibrate {}{}",
                  former.of_others ? "photos of other things" : "--similar", renewed.string(),
                  former.of_others ? " --others FOLDER" : " --similar");
}

}  // namespace

Renewal renew_recognizer(const fs::path& path, const fs::path& out, const RenewalParts& parts,
                         const Provenance& provenance, Progress& progress) {
  std::error_code ignored;
  const bool in_place = fs::equivalent(path, out, ignored);
  if (!in_place) check_absent(out);
  const RecognizerFile file(path, in_place ? FileUse::kChange : FileUse::kRead);
  check_method(file, parts.parts);
  RenewalParts own = parts;
  own.parts = parts_with_own(file, parts.parts);
  const std::optional<nlohmann::json> former = file.calibration();
  const Renewal done = renew_with_knowledge(file, out, own, provenance, progress);
  if (former) report_dropped(calibration_from(*former, path.string()), out);
  RecognizerOptions options;
  options.device = parts.parts.device;
  Recognizer::open(out, options).take_first_threshold({}, Recognizer::FirstThreshold::kForGood, progress);
  return done;
}

}  // namespace protocom
