#include <chrono>
#include <memory>

#include "http/server_support.h"
#include "support/file_limit.h"
#include "support/sqlite_file.h"

namespace protocom::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// How faults of the recognizer's file are reported to clients.
class FileFaults : public Served {
 protected:
  void SetUp() override {
    Served::SetUp();
    ServerOptions options;
    options.limits.file = std::chrono::seconds(1);
    serve(options);
  }

  void expect_nothing_of_the_machine(const Reply& reply) const {
    EXPECT_THAT(reply.body, AllOf(HasSubstr("\"error\""), Not(HasSubstr(folder_.path().string()))));
  }
};

TEST_F(FileFaults, AFullDiskIsSaidAndLosesNothing) {
  enrol("dark", 10);
  const std::string large = form_of({{"image", png(20), std::string(100, 'x') + ".png"}});
  {
    const FileLimit full(fs::file_size(path_));
    Reply reply;
    for (int i = 0; i < 50 && reply.status < 300; ++i)
      reply = ask("POST", "/v1/classes/" + std::to_string(i) + std::string(150, 'c') + "/examples", large, kForm);
    EXPECT_EQ(reply.status, 507);
    EXPECT_EQ(reply.json()["error"]["code"], "disk_full");
    EXPECT_THAT(reply.error(), HasSubstr("nothing was changed"));
    expect_nothing_of_the_machine(reply);
    EXPECT_EQ(best(15).substr(0, 4), "dark");
  }
  EXPECT_EQ(ask("POST", "/v1/classes/new/examples", large, kForm).status, 201) << "with room again it goes on";
}

TEST_F(FileFaults, AFileThatAnotherProgramKeepsIsAskedForAgainLater) {
  enrol("dark", 10);
  const SqliteFile other(path_);
  other.run("BEGIN EXCLUSIVE");
  for (const Reply& reply : {ask("DELETE", "/v1/examples/1"), ask("POST", "/v1/calibrate"), enrol("dark", 20)}) {
    EXPECT_EQ(reply.status, 503) << reply.body;
    EXPECT_GT(std::stoi(reply.headers.at("retry-after")), 0);
    expect_nothing_of_the_machine(reply);
  }
  EXPECT_EQ(ask("GET", "/readyz").status, 503);
  other.run("ROLLBACK");
  EXPECT_EQ(ask("DELETE", "/v1/examples/1").status, 200);
}

TEST_F(FileFaults, DamageIsTheServersFaultThoughAClassLacksAnImage) {
  enrol("dark", 10);
  ask("POST", "/v1/classes/mouse/examples", R"({"attributes": ["tail"]})", kJson);
  EXPECT_EQ(ask("POST", "/v1/classify", png(1), kPng).status, 409);
  enrol("bright", 240);
  SqliteFile(path_).run("UPDATE examples SET feature = zeroblob(3) WHERE id = 2");
  const Reply reply = ask("POST", "/v1/classify", png(1), kPng);
  EXPECT_EQ(reply.status, 500) << reply.body;
  expect_nothing_of_the_machine(reply);
}

}  // namespace
}  // namespace protocom::testing
