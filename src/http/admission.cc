#include "http/admission.h"

#include "http/http_error.h"

namespace protocom::http {

Admission::Place::Place(Admission& admission, int64_t bytes) : admission_(admission), bytes_(bytes) {
  ++admission_.requests_;
  admission_.bytes_ += bytes_;
}

Admission::Place::~Place() {
  --admission_.requests_;
  admission_.bytes_ -= bytes_;
}

std::shared_ptr<Admission::Place> Admission::admit(int64_t bytes) {
  auto place = std::make_shared<Place>(*this, bytes);
  if (requests_ > limits_.requests || bytes_ > limits_.waiting_bytes)
    refuse_for_now(503, 1, "the server has as many requests as it can hold: send it again in a second");
  return place;
}

}  // namespace protocom::http
