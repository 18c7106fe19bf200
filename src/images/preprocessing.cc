#include "images/preprocessing.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/near_matches.h"
#include "base/text.h"
#include "io/json.h"

namespace protocom {
namespace {

constexpr int64_t kLargestSide = 4096;

const std::map<std::string, Preprocessing>& presets() {
  static const std::map<std::string, Preprocessing> kPresets = {
      {"plain", {224, 224, {}, {}}},
      {"imagenet", {224, 256, {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}}},
      {"clip", {224, 224, {0.48145466, 0.4578275, 0.40821073}, {0.26862954, 0.26130258, 0.27577711}}},
      {"half", {224, 256, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}}}};
  return kPresets;
}

int64_t parse_side(const std::string& text, const std::string& value) {
  size_t used = 0;
  int64_t side = 0;
  try {
    side = std::stoll(value, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != value.size() || side < 1 || side > kLargestSide)
    fail_usage("'{}': side out of range: expected 1 to {} pixels, found '{}'", text, kLargestSide, value);
  return side;
}

void set_parameter(const std::string& text, const std::string& part, Preprocessing& result) {
  const size_t equals = part.find('=');
  const std::string name = part.substr(0, equals);
  if (part == "squeeze") {
    result.squeeze = true;
    result.resize = 0;  // nothing is cropped, unless a following resize= requests it
    return;
  }
  if (equals != std::string::npos && name == "resampling") {
    result.resampling = parse_resampling(part.substr(equals + 1));
    return;
  }
  if (equals == std::string::npos || (name != "size" && name != "resize"))
    fail_usage("'{}': its parameters are size=PIXELS, resize=PIXELS, resampling=bicubic and squeeze, found '{}'", text,
               part);
  const int64_t side = parse_side(text, part.substr(equals + 1));
  if (name == "size")
    result = at_size(result, side);
  else
    result.resize = side;
}

std::string wrong_with(const Preprocessing& preprocessing) {
  const auto is_side = [](int64_t side) { return side >= 1 && side <= kLargestSide; };
  if (!is_side(preprocessing.image_size)) return fmt::format("images of {} pixels", preprocessing.image_size);
  if (!is_side(preprocessing.shorter_side()) || preprocessing.shorter_side() < preprocessing.image_size)
    return fmt::format("a shorter side of {} pixels for a crop of {}", preprocessing.resize, preprocessing.image_size);
  if (preprocessing.mean.size() != preprocessing.std.size() ||
      (preprocessing.normalises() && preprocessing.mean.size() != 3))
    return fmt::format("{} means and {} standard deviations of 3 channels", preprocessing.mean.size(),
                       preprocessing.std.size());
  for (size_t c = 0; c < preprocessing.mean.size(); ++c) {
    if (!std::isfinite(preprocessing.mean[c]) || !std::isfinite(preprocessing.std[c]) || preprocessing.std[c] <= 0)
      return fmt::format("mean {} and standard deviation {}", preprocessing.mean[c], preprocessing.std[c]);
    if (const std::string scale = wrong_statistics(preprocessing.mean[c], preprocessing.std[c]); !scale.empty())
      return scale;
  }
  return "";
}

/// Throws Error for unknown keys, which would otherwise be ignored silently.
void check_keys(const nlohmann::json& json, const std::string& where) {
  const std::vector<std::string> known = {"image_size", "resize", "mean", "std", "resampling", "squeeze"};
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string advice =
        key == "bgr" || key == "channel_order"
            ? "; images come as RGB: if the encoder needs BGR, let its forward begin with images.flip(1)"
            : did_you_mean(key, known);
    fail("{}: the preprocessing has an unknown '{}': expected {}{}", where, excerpt(key), fmt::join(known, ", "),
         advice);
  }
}

}  // namespace

std::string wrong_statistics(double mean, double std) {
  constexpr double kBytes = 255, kWidest = 2;  // a standard deviation of numbers in [0, 1] is at most 0.5
  if (mean >= 0 && mean <= 1 && std <= kWidest) return "";
  const std::string found = fmt::format("mean {:g} and standard deviation {:g} for images in [0, 1]", mean, std);
  const bool of_bytes = mean > 1 && mean <= kBytes && std <= kBytes && std > 1;
  if (!of_bytes) return found;
  return fmt::format("{}: these are of 0 to 255, divide both by 255 (mean {:.3g}, std {:.3g})", found, mean / kBytes,
                     std / kBytes);
}

bool operator==(const Preprocessing& a, const Preprocessing& b) {
  const auto mean = [](const Preprocessing& preprocessing) {
    return preprocessing.normalises() ? preprocessing.mean : std::vector<double>{0, 0, 0};
  };
  const auto std = [](const Preprocessing& preprocessing) {
    return preprocessing.normalises() ? preprocessing.std : std::vector<double>{1, 1, 1};
  };
  return a.image_size == b.image_size && a.shorter_side() == b.shorter_side() && mean(a) == mean(b) &&
         std(a) == std(b) && a.resampling == b.resampling && a.squeeze == b.squeeze;
}

Preprocessing at_size(const Preprocessing& preprocessing, int64_t image_size) {
  Preprocessing result = preprocessing;
  result.image_size = image_size;
  if (preprocessing.image_size > 0) result.resize = preprocessing.resize * image_size / preprocessing.image_size;
  return result;
}

std::string describe(const Preprocessing& preprocessing) {
  const bool usual = preprocessing.resampling == Resampling::kBilinear;
  std::string text = fmt::format(
      "{} {}{}, crop {}, ", preprocessing.squeeze ? "squeezed to" : "shorter side", preprocessing.shorter_side(),
      usual ? "" : fmt::format(" {}", to_string(preprocessing.resampling)), preprocessing.image_size);
  if (!preprocessing.normalises()) return text + "RGB in [0, 1]";
  return text +
         fmt::format("mean {:g}, std {:g}", fmt::join(preprocessing.mean, " "), fmt::join(preprocessing.std, " "));
}

Preprocessing parse_preprocessing(const std::string& text) {
  const std::vector<std::string_view> parts = split_at(text, ':');
  const std::string name(parts.front());
  const auto found = presets().find(name);
  if (found == presets().end()) {
    std::vector<std::string> names;
    for (const auto& preset : presets()) names.push_back(preset.first);
    fail_usage("unknown preprocessing '{}': expected one of {}{}", name, fmt::join(names, ", "),
               did_you_mean(name, names));
  }
  Preprocessing result = found->second;
  for (size_t i = 1; i < parts.size(); ++i) set_parameter(text, std::string(parts[i]), result);
  if (const std::string wrong = wrong_with(result); !wrong.empty()) fail_usage("'{}' has {}", text, wrong);
  return result;
}

nlohmann::json to_json(const Preprocessing& preprocessing) {
  nlohmann::json json = {{"image_size", preprocessing.image_size},
                         {"resize", preprocessing.shorter_side()},
                         {"mean", preprocessing.mean},
                         {"std", preprocessing.std}};
  if (preprocessing.resampling != Resampling::kBilinear) json["resampling"] = to_string(preprocessing.resampling);
  if (preprocessing.squeeze) json["squeeze"] = true;
  return json;
}

Preprocessing preprocessing_from(const nlohmann::json& json, const std::string& where) {
  Preprocessing result;
  try {
    result.image_size = whole_number<int64_t>(json.at("image_size"));
    result.resize = whole_number_or<int64_t>(json, "resize", 0);
    result.mean = json.value("mean", std::vector<double>());
    result.std = json.value("std", std::vector<double>());
    if (json.contains("resampling")) result.resampling = parse_resampling(json.at("resampling").get<std::string>());
    result.squeeze = json.value("squeeze", false);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the preprocessing is damaged: {}", where, reason_of(error));
  }
  if (const std::string wrong = wrong_with(result); !wrong.empty()) fail("{}: the preprocessing has {}", where, wrong);
  return result;
}

Preprocessing stated_preprocessing(const nlohmann::json& json, const std::string& where) {
  if (json.is_object()) check_keys(json, where);
  return preprocessing_from(json, where);
}

}  // namespace protocom
