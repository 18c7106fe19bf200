#include "base/error.h"
#include "base/log.h"
#include "http/detail/http_error.h"
#include "store/database_error.h"

namespace protocom::http {
namespace {

constexpr int kComeAgain = 5;  // seconds

HttpError internal(const std::exception& error) {
  logger().error("{}", reason_of(error));
  return {500, "internal error; see the server's log"};
}

}  // namespace

HttpError translate_exception() {
  try {
    throw;
  } catch (const HttpError& error) {
    return error;
  } catch (const DatabaseError& error) {
    if (error.fault() == DatabaseFault::kBusy)
      return {503, "another program is changing the recognizer; nothing was changed: send it again later", kComeAgain};
    if (error.fault() == DatabaseFault::kReplaced)
      return {503, "the recognizer's file was removed or replaced; nothing was changed: send it again later",
              kComeAgain};
    if (error.fault() != DatabaseFault::kFull) return internal(error);
    logger().error("{}", error.what());
    return {507, "the server's disk is full; nothing was changed"};
  } catch (const std::exception& error) {
    return internal(error);
  }
}

}  // namespace protocom::http
