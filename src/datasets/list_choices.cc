#include "datasets/list_choices.h"

#include <mutex>

namespace protocom {
namespace {

std::mutex choices_mutex;

ListChoices& chosen() {
  static ListChoices choices;
  return choices;
}

}  // namespace

ListChoices list_choices() {
  const std::lock_guard lock(choices_mutex);
  return chosen();
}

void set_list_choices(const ListChoices& choices) {
  const std::lock_guard lock(choices_mutex);
  chosen() = choices;
}

}  // namespace protocom
