#include "http/admission.h"

namespace protocom::http {

Admission::Place::~Place() {
  if (accepted_) --admission_.requests_;
  admission_.bytes_ -= bytes_;
}

bool Admission::Place::add(int64_t bytes) {
  bytes_ += bytes;
  return (admission_.bytes_ += bytes) <= admission_.limits_.waiting_bytes;
}

void Admission::Place::accept() {
  accepted_ = true;
  if (++admission_.requests_ > admission_.limits_.requests) throw no_room();
}

HttpError no_room() { return {503, "the server has as many requests as it can hold: send it again in a second", 1}; }

}  // namespace protocom::http
