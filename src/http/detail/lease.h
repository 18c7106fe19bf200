#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

namespace protocom::http {

/// Lets other threads hold an object that belongs to an executor's thread. Whichever thread releases it last, the
/// object is destroyed in its own thread, whose context keeps running until then.
template <typename T, typename Executor>
class Lease {
 public:
  Lease(std::shared_ptr<T> object, const Executor& executor) : object_(std::move(object)), work_(executor) {}
  ~Lease() {
    boost::asio::post(work_.get_executor(), [object = std::move(object_)] {});
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// Runs `work` on the object, in the object's thread.
  template <typename Work>
  void post(Work work) const {
    boost::asio::post(work_.get_executor(), [object = object_, work = std::move(work)]() mutable { work(*object); });
  }

 private:
  std::shared_ptr<T> object_;
  boost::asio::executor_work_guard<Executor> work_;
};

}  // namespace protocom::http
