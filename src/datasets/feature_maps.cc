#include "datasets/feature_maps.h"

#include <map>

#include "base/error.h"
#include "datasets/detail/mapped_artefact.h"
#include "io/files.h"

namespace protocom {
namespace {

constexpr images_detail::MappedKind kMaps = {"feature-maps", "feature maps", 1};

void check_consistent(const FeatureMaps& maps, const std::string& where) {
  if (maps.maps.dim() != 4 || maps.maps.numel() == 0) {
    fail("{}: maps have the shape [{}], expected [n, c, h, w]", where, fmt::join(maps.maps.shape(), ", "));
  }
  if (maps.maps.size(0) != static_cast<int64_t>(maps.image_ids.size())) {
    fail("{}: expected one image id per map, found {} maps and {} ids", where, maps.maps.size(0),
         maps.image_ids.size());
  }
}

}  // namespace

void write_feature_maps(const std::filesystem::path& path, const FeatureMaps& maps, const Provenance& provenance) {
  check_consistent(maps, path.string());
  ArtefactHeader header = make_header(kMaps.kind, kMaps.newest_version, provenance);
  header.details = {{"images", maps.maps.size(0)},
                    {"channels", maps.maps.size(1)},
                    {"height", maps.maps.size(2)},
                    {"width", maps.maps.size(3)},
                    {"backbone_hash", maps.backbone_hash}};
  write_safetensors(
      path, {{"maps", maps.maps}},
      {{kSafetensorsHeaderKey, images_detail::to_text(header)}, {"image_ids", images_detail::to_text(maps.image_ids)}});
}

FeatureMaps read_feature_maps(const std::filesystem::path& path) {
  const std::string where = path.string();
  const Safetensors file = read_safetensors(path);
  const ArtefactHeader header = images_detail::header_of(file, kMaps, where);
  FeatureMaps maps;
  maps.maps = images_detail::array_of(file, "maps", NumberType::kFloat16, where);
  maps.image_ids = images_detail::words_of(file, "image_ids", where);
  reading(path, [&] { maps.backbone_hash = header.details.value("backbone_hash", ""); });
  check_consistent(maps, where);
  return maps;
}

void check_same_images(const FeatureMaps& maps, const FeatureSet& features) {
  const bool both_known = !maps.backbone_hash.empty() && !features.backbone_hash.empty();
  if (both_known && maps.backbone_hash != features.backbone_hash)
    fail("the feature maps and the features come from different backbones: extract both with the same");
  if (maps.image_ids.size() != features.image_ids.size()) {
    fail("found feature maps of {} images and features of {}: extract both from the same images", maps.image_ids.size(),
         features.image_ids.size());
  }
  for (size_t i = 0; i < maps.image_ids.size(); ++i) {
    if (maps.image_ids[i] == features.image_ids[i]) continue;
    fail("image {} is '{}' among the feature maps and '{}' among the features: extract both from the same images", i,
         excerpt(maps.image_ids[i]), excerpt(features.image_ids[i]));
  }
}

}  // namespace protocom
