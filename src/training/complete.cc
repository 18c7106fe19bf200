#include "training/complete.h"

#include "base/enum_words.h"
#include "training/torch_functions.h"

namespace protocom {
namespace {

constexpr EnumWord<Keep> kKeeps[] = {{Keep::kBest, "best"}, {Keep::kLast, "last"}};
constexpr EnumWord<Centring> kCentrings[] = {
    {Centring::kAuto, "auto"}, {Centring::kAlways, "always"}, {Centring::kNever, "never"}};

}  // namespace

Keep parse_keep(std::string_view text) { return value_of(kKeeps, text, "choice of an epoch"); }

std::string_view to_string(Keep keep) { return word_of(kKeeps, keep); }

Centring parse_centring(std::string_view text) { return value_of(kCentrings, text, "centring"); }

std::string_view to_string(Centring centring) { return word_of(kCentrings, centring); }

CompletionTraining train_completion(const CompleteInputs& inputs, const CompleteRecipe& options,
                                    const TrainingFiles& files, Progress& progress) {
  return torch_train_completion(inputs, options, files, progress);
}

}  // namespace protocom
