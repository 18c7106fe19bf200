#include "http/detail/lease.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <future>
#include <thread>

namespace protocom::testing {
namespace {

/// Records in which thread it was used and destroyed.
struct Owned {
  ~Owned() { destroyed_in = std::this_thread::get_id(); }
  std::thread::id& destroyed_in;
  std::thread::id worked_in = {};
};

// A connection that its worker destroyed after the server had stopped read freed memory.
TEST(Lease, WhoeverLetsGoLastTheObjectEndsInItsOwnThreadWhichRunsUntilThen) {
  std::thread::id destroyed_in, worked_in;
  boost::asio::io_context context;
  using Held = http::Lease<Owned, boost::asio::io_context::executor_type>;
  auto lease = std::make_shared<Held>(std::shared_ptr<Owned>(new Owned{destroyed_in}), context.get_executor());
  std::promise<void> has_worked;
  lease->post([&](Owned& owned) {
    worked_in = owned.worked_in = std::this_thread::get_id();
    has_worked.set_value();
  });
  std::thread own([&] { context.run(); });
  const std::thread::id own_id = own.get_id();
  has_worked.get_future().wait();
  std::thread([last = std::move(lease)] {}).join();
  own.join();
  EXPECT_EQ(worked_in, own_id);
  EXPECT_EQ(destroyed_in, own_id);
}

}  // namespace
}  // namespace protocom::testing
