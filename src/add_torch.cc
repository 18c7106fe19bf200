#include "trainers/add_torch.h"

namespace {

/// An object of its own, not of a library, which would be left out as nobody names it.
[[maybe_unused]] const bool kAdded = [] {
  protocom::add_torch();
  return true;
}();

}  // namespace
