#pragma once
#include "protocom/core/error.h"
#include "serve/database.h"

namespace protocom {

/// One view of the file until it ends, also within another one.
class ReadView {
 public:
  explicit ReadView(const Database& database) : database_(database) { database_.run("SAVEPOINT view"); }
  ~ReadView() {
    try {
      database_.run("RELEASE view");
    } catch (const Error&) {  // nothing was written
    }
  }
  ReadView(const ReadView&) = delete;
  ReadView& operator=(const ReadView&) = delete;

 private:
  const Database& database_;
};

}  // namespace protocom
