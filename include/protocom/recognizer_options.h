#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "protocom/export.h"

namespace protocom::v0 {

/// The purpose of opening a file. kChange rolls back a change that a crash interrupted; kRead refuses such a file and
/// never writes.
enum class FileUse { kRead, kChange };

/// Options for answers.
struct RecognizerOptions {
  std::string method = {};  ///< "plda", "gauss-fusion:scale=20"; empty: the recognizer's own
  /// Whether the images of a call are classified together; if no method is named, by the transductive method that uses
  /// the same fitted file.
  bool together = false;
  std::string device = "auto";  ///< device of the encoder: "cpu", "cuda", "cuda:1"
  int64_t batch = 64;           ///< images per forward pass
  int64_t top = 5;              ///< classes listed in an answer
  int64_t nearest = 3;          ///< enrolled images listed in an answer
  int64_t attributes = 0;       ///< attributes listed in an answer; they take a few milliseconds per image
  /// Class proportions of the images of a call, which are then classified together; unnamed classes share the rest
  /// equally. Not with a `method` that ignores them (plda-vb:proportions=given uses them).
  std::map<std::string, double> shares = {};
  /// Parameter of the transductive method, which it implies: "estimate", "balanced" or "given" (by `shares`); empty:
  /// its default.
  std::string proportions = {};
  /// Probability, in (0, 1), with which Answer::set contains the right class of a new image, by leave-one-out after
  /// each change of the classes. Empty: no sets.
  std::optional<double> coverage = {};
  /// Least probability of an answer, in (0, 1): if the first class has less, Answer::group is set. Empty: never.
  std::optional<double> roll_up = {};
  /// For roll_up, the groups of a class, widest first ("animals/birds"). Other classes use the levels of their titles
  /// or names.
  std::map<std::string, std::string> groups = {};
  std::chrono::seconds patience{60};  ///< how long a call waits while another process changes the file
  FileUse use = FileUse::kChange;
};

}  // namespace protocom::v0

namespace protocom {
using v0::FileUse;
using v0::RecognizerOptions;
}  // namespace protocom
