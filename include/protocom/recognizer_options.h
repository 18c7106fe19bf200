#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "protocom/export.h"

namespace protocom::v0 {

/// What a recognizer's file is opened for. Only what is opened to change rolls back a change that a crash interrupted;
/// what is opened to read refuses such a file, and never writes.
enum class FileUse { kRead, kChange };

/// How a recognizer answers.
struct RecognizerOptions {
  std::string method = {};  ///< "plda", "gauss-fusion:scale=20"; empty: the recognizer's own
  /// Images of one call help one another (transductive); without a method named: the transductive one that takes the
  /// same fitted file.
  bool together = false;
  std::string device = "auto";  ///< of the encoder: "cpu", "cuda", "cuda:1"
  int64_t batch = 64;           ///< images per forward pass
  int64_t top = 5;              ///< classes of an answer
  int64_t nearest = 3;          ///< enrolled images of an answer
  int64_t attributes = 0;       ///< attributes of an answer; they take a few milliseconds an image
  /// Of the classes among the images of a call, for a method that takes them as given (plda-vb:proportions=given);
  /// classes that are not named share what is left equally.
  std::map<std::string, double> shares = {};
  /// Parameter of the transductive method that `together` names: "estimate", "balanced" or "given"; empty: its own.
  std::string proportions = {};
  /// Answer::set holds the right class of new images of the classes with this probability, in (0, 1). The images are
  /// left out in turn for it, once for the classes as they are. Nothing: no sets.
  std::optional<double> coverage = {};
  /// Least probability of an answer, in (0, 1): Answer::group is given where the first class has less. Nothing: never.
  std::optional<double> roll_up = {};
  std::chrono::seconds patience{60};  ///< that a call waits for another process that changes the file
  FileUse use = FileUse::kChange;
};

}  // namespace protocom::v0

namespace protocom {
using v0::FileUse;
using v0::RecognizerOptions;
}  // namespace protocom
