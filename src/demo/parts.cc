#include "demo/detail/parts.h"

namespace protocom::synthetic {

const std::array<PartInfo, kPartCount>& part_table() {
  static constexpr std::array<PartInfo, kPartCount> kTable = {{
      {"round-body", "round", Slot::kBody},
      {"long-body", "long", Slot::kBody},
      {"pear-body", "stout", Slot::kBody},
      {"arched-body", "arched", Slot::kBody},
      {"pointed-ears", "eared", Slot::kEars},
      {"round-ears", "mousy", Slot::kEars},
      {"long-ears", "hare", Slot::kEars},
      {"floppy-ears", "floppy", Slot::kEars},
      {"straight-horns", "horned", Slot::kHeadgear},
      {"curled-horns", "ram", Slot::kHeadgear},
      {"antlers", "antlered", Slot::kHeadgear},
      {"antennae", "feeler", Slot::kHeadgear},
      {"beak", "beaked", Slot::kMouth},
      {"bill", "duck", Slot::kMouth},
      {"snout", "snouted", Slot::kMouth},
      {"trunk", "trunked", Slot::kMouth},
      {"tusks", "tusked", Slot::kFace},
      {"whiskers", "whiskered", Slot::kFace},
      {"nose-horn", "rhino", Slot::kFace},
      {"big-eyes", "owlish", Slot::kEyes},
      {"stalk-eyes", "stalked", Slot::kEyes},
      {"single-eye", "cyclops", Slot::kEyes},
      {"mane", "maned", Slot::kNeck},
      {"long-neck", "swan", Slot::kNeck},
      {"crest", "crested", Slot::kNeck},
      {"shell", "shelled", Slot::kBack},
      {"back-spikes", "spiny", Slot::kBack},
      {"back-fin", "sail", Slot::kBack},
      {"humps", "humped", Slot::kBack},
      {"feathered-wings", "feathered", Slot::kWings},
      {"bat-wings", "bat", Slot::kWings},
      {"insect-wings", "fairy", Slot::kWings},
      {"long-tail", "tailed", Slot::kTail},
      {"bushy-tail", "bushy", Slot::kTail},
      {"curly-tail", "curly", Slot::kTail},
      {"forked-tail", "forked", Slot::kTail},
      {"fan-tail", "peacock", Slot::kTail},
      {"two-legs", "walking", Slot::kLegs},
      {"four-legs", "trotting", Slot::kLegs},
      {"many-legs", "spider", Slot::kLegs},
      {"tentacles", "squid", Slot::kLegs},
      {"side-fins", "finned", Slot::kFlank},
      {"stripes", "striped", Slot::kCoat},
      {"spots", "spotted", Slot::kCoat},
      {"scales", "scaly", Slot::kCoat},
      {"patches", "piebald", Slot::kCoat},
      {"pale-belly", "pale", Slot::kCoat},
  }};
  return kTable;
}

}  // namespace protocom::synthetic
