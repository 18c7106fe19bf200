#pragma once
#include <array>
#include <bitset>
#include <cstddef>

/// The parts that creatures of the synthetic data set are composed of.
namespace protocom::synthetic {

/// Parts of one slot exclude one another: a creature has one kind of ears.
enum class Slot { kBody, kEars, kHeadgear, kMouth, kFace, kEyes, kNeck, kBack, kWings, kTail, kLegs, kFlank, kCoat };
inline constexpr size_t kSlotCount = 13;

/// In the order of part_table().
enum class Part : size_t {
  kRoundBody,
  kLongBody,
  kPearBody,
  kArchedBody,
  kPointedEars,
  kRoundEars,
  kLongEars,
  kFloppyEars,
  kStraightHorns,
  kCurledHorns,
  kAntlers,
  kAntennae,
  kBeak,
  kBill,
  kSnout,
  kTrunk,
  kTusks,
  kWhiskers,
  kNoseHorn,
  kBigEyes,
  kStalkEyes,
  kSingleEye,
  kMane,
  kLongNeck,
  kCrest,
  kShell,
  kBackSpikes,
  kBackFin,
  kHumps,
  kFeatheredWings,
  kBatWings,
  kInsectWings,
  kLongTail,
  kBushyTail,
  kCurlyTail,
  kForkedTail,
  kFanTail,
  kTwoLegs,
  kFourLegs,
  kManyLegs,
  kTentacles,
  kSideFins,
  kStripes,
  kSpots,
  kScales,
  kPatches,
  kPaleBelly
};
inline constexpr size_t kPartCount = 47;

/// The parts that a class has, or that an image shows.
using PartSet = std::bitset<kPartCount>;

/// Properties of a part.
struct PartInfo {
  const char* name;       ///< the attribute's name, "pointed-ears"
  const char* adjective;  ///< for the creature that has it, "fox-eared"
  Slot slot;
};

/// [kPartCount], indexed by Part.
const std::array<PartInfo, kPartCount>& part_table();

inline constexpr size_t index(Part part) { return static_cast<size_t>(part); }

}  // namespace protocom::synthetic
