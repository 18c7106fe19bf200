#include "http/detail/admission.h"

#include <utility>

namespace protocom::http {

void Admission::Place::leave() {
  if (std::exchange(accepted_, false)) --admission_.requests_;
  admission_.bytes_ -= std::exchange(bytes_, 0);
}

bool Admission::Place::add(int64_t bytes) {
  bytes_ += bytes;
  return (admission_.bytes_ += bytes) <= admission_.limits_.waiting_bytes;
}

void Admission::Place::accept() {
  accepted_ = true;
  if (++admission_.requests_ > admission_.limits_.requests) throw no_room();
}

HttpError no_room() { return {503, "too many requests: send it again in a second", 1}; }

}  // namespace protocom::http
