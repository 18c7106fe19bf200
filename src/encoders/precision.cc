#include "encoders/precision.h"

#include "base/enum_words.h"

namespace protocom {
namespace {

constexpr EnumWord<Precision> kPrecisions[] = {
    {Precision::kAuto, "auto"}, {Precision::kFloat32, "float32"}, {Precision::kBFloat16, "bfloat16"}};

}  // namespace

Precision parse_precision(std::string_view text) { return value_of(kPrecisions, text, "precision"); }

std::string_view to_string(Precision precision) { return word_of(kPrecisions, precision); }

}  // namespace protocom
