#include "encoders/network_options.h"

namespace protocom {

void NetworkOptions::set(const Preprocessing& preprocessing) {
  static_cast<Preprocessing&>(*this) = preprocessing;
  if (normalises()) return;
  mean = {0, 0, 0};
  std = {1, 1, 1};
}

}  // namespace protocom
