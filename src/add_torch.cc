#include "trainers/add_torch.h"

namespace {

/// An object of its own, not of a library, which the linker would leave out, since nothing refers to it.
[[maybe_unused]] const bool kAdded = [] {
  protocom::add_torch();
  return true;
}();

}  // namespace
