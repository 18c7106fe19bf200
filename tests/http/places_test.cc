#include "http/detail/admission.h"
#include "http/detail/connections.h"
#include "http/server_support.h"

namespace protocom::testing {
namespace {

using http::Admission;
using http::Awaits;
using http::Connection;
using http::Connections;

TEST(Admission, APlaceThatWasLeftIsFreeThoughSomebodyStillHoldsIt) {
  ServerLimits limits;
  limits.requests = 1;
  limits.waiting_bytes = 10;
  Admission admission(limits);
  const auto first = admission.begin();
  EXPECT_TRUE(first->add(10));
  first->accept();
  first->leave();
  const auto second = admission.begin();
  EXPECT_TRUE(second->add(10));
  EXPECT_NO_THROW(second->accept());
  EXPECT_THROW(admission.begin()->accept(), http::HttpError);
}

/// A connection that is closed while it is still registered.
class ClosedConnection : public Connection {
 public:
  void stop() override { await(Awaits::kClosed); }
  void evict() override {}
  void poll(Clock::time_point /*now*/) override {}
};

TEST(Connections, DoesNotCountAConnectionThatIsClosedThoughSomebodyStillHoldsIt) {
  Connections connections;
  const auto one = std::make_shared<ClosedConnection>(), two = std::make_shared<ClosedConnection>();
  connections.add(one);
  connections.add(two);
  EXPECT_EQ(connections.count(), 2);
  one->stop();
  EXPECT_EQ(connections.count(), 1);
}

TEST_F(Served, WhoeverHasAnAnswerFindsItsPlaceFree) {
  ServerOptions options;
  options.limits.requests = 1;
  serve(options);
  Client client(port());
  for (int i = 0; i < 500; ++i) ASSERT_EQ(client.ask("GET", "/v1/classes").status, 200) << i;
}

}  // namespace
}  // namespace protocom::testing
