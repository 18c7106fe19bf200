#include <lcms2.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "images/codec.h"
#include "io/files.h"

namespace protocom::codec {
namespace {

constexpr size_t kLargestProfile = size_t{4} << 20;
constexpr size_t kMostKept = 64;  // transforms; photos of a folder share a few
constexpr int kUnnoticed = 1;     // levels of 255: rounding errors

using Profile = std::unique_ptr<void, cmsBool (*)(cmsHPROFILE)>;
using Transform = std::shared_ptr<void>;

Profile owned(cmsHPROFILE profile) { return {profile, &cmsCloseProfile}; }

/// Whether colours over the whole cube are unchanged: the profile is sRGB, under any name.
bool changes_nothing(const Transform& transform) {
  constexpr int kSteps = 6, kStep = 51;
  for (int i = 0; i < kSteps * kSteps * kSteps; ++i) {
    const uint8_t in[3] = {static_cast<uint8_t>(i % kSteps * kStep), static_cast<uint8_t>(i / kSteps % kSteps * kStep),
                           static_cast<uint8_t>(i / (kSteps * kSteps) * kStep)};
    uint8_t out[3];
    cmsDoTransform(transform.get(), in, out, 1);
    for (int c = 0; c < 3; ++c) {
      if (std::abs(in[c] - out[c]) > kUnnoticed) return false;
    }
  }
  return true;
}

/// Returns none if there is nothing to convert: sRGB itself, a profile of other colours than RGB, a damaged one.
Transform make_transform(std::string_view bytes) {
  const Profile from = owned(cmsOpenProfileFromMem(bytes.data(), static_cast<cmsUInt32Number>(bytes.size())));
  if (from == nullptr || cmsGetColorSpace(from.get()) != cmsSigRgbData) return nullptr;
  const Profile to = owned(cmsCreate_sRGBProfile());
  // Without its one-pixel cache a transform may be used by several threads at once.
  Transform transform(
      cmsCreateTransform(from.get(), TYPE_RGB_8, to.get(), TYPE_RGB_8, INTENT_PERCEPTUAL, cmsFLAGS_NOCACHE),
      [](cmsHTRANSFORM item) {
        if (item != nullptr) cmsDeleteTransform(item);
      });
  return transform == nullptr || changes_nothing(transform) ? nullptr : transform;
}

Transform transform_of(std::string_view profile) {
  static std::mutex mutex;
  static std::map<std::string, Transform> kept;
  const std::string key = hash_bytes(profile);
  const std::lock_guard lock(mutex);
  const auto found = kept.find(key);
  if (found != kept.end()) return found->second;
  if (kept.size() >= kMostKept) kept.clear();
  return kept[key] = make_transform(profile);
}

}  // namespace

void to_srgb(Image& image, std::string_view profile) {
  if (profile.empty() || profile.size() > kLargestProfile) return;
  const Transform transform = transform_of(profile);
  if (transform == nullptr) return;
  for (int64_t y = 0; y < image.height; ++y) {
    uint8_t* row = image.rgb.data() + y * image.width * 3;
    cmsDoTransform(transform.get(), row, row, static_cast<cmsUInt32Number>(image.width));
  }
}

std::string display_p3_profile() {
  const cmsCIExyY white = {0.3127, 0.3290, 1};
  const cmsCIExyYTRIPLE primaries = {{0.680, 0.320, 1}, {0.265, 0.690, 1}, {0.150, 0.060, 1}};
  const cmsFloat64Number srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
  constexpr cmsInt32Number kPowerWithLine = 4;
  cmsToneCurve* curve = cmsBuildParametricToneCurve(nullptr, kPowerWithLine, srgb);
  cmsToneCurve* const curves[] = {curve, curve, curve};
  const Profile profile = owned(cmsCreateRGBProfile(&white, &primaries, curves));
  cmsFreeToneCurve(curve);
  cmsUInt32Number size = 0;
  if (profile == nullptr || cmsSaveProfileToMem(profile.get(), nullptr, &size) == 0) return "";
  std::string bytes(size, '\0');
  return cmsSaveProfileToMem(profile.get(), bytes.data(), &size) == 0 ? "" : bytes;
}

}  // namespace protocom::codec
