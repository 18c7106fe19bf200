#pragma once
#include "http/http_error.h"

namespace protocom::http {

/// What went wrong, as the client may know it; the log says more where it is the server's fault. Called while an
/// exception is handled.
HttpError translate_exception();

}  // namespace protocom::http
