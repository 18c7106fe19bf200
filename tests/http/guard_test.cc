#include "http/detail/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/files.h"
#include "support/logged.h"
#include "support/temp_dir.h"

namespace protocom::http {
namespace {

using protocom::testing::Logged;
using protocom::testing::TempDir;
using ::testing::HasSubstr;

/// Returns the status of a guard's answer; 200 if it lets the request pass.
int answer_of(Guard& guard, const Head& head) {
  try {
    guard.check(head, Asks::kRead);
    return 200;
  } catch (const HttpError& error) {
    return error.status;
  }
}

Head head_to(const std::string& host) {
  Head head;
  head.host = host;
  return head;
}

TEST(Guard, WithoutKeysAnswersOnlyToNamesOfThisMachine) {
  Guard guard({});
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1", "127.0.0.1:1", "127.8.8.8", "[::1]", "[::1]:80"})
    EXPECT_EQ(answer_of(guard, head_to(host)), 200) << host;
  for (const char* host : {"", "[::1].evil", "[::1].evil:80", "[::1", "[::1]]", "localhost:80.evil", "localhost:x",
                           "localhost.evil", "127.0.0.1.evil", "evil", "[::1]evil", "localhost:80:80", "[]", ":80"})
    EXPECT_EQ(answer_of(guard, head_to(host)), 403) << host;
}

TEST(Guard, RefusesWhatPagesOfOtherSitesShowOrFollowWithoutAnOrigin) {
  Guard guard({});
  Head asked = head_to("localhost:8080");
  for (const char* own : {"", "same-origin", "none"}) {
    asked.site = own;
    EXPECT_EQ(answer_of(guard, asked), 200) << own;
  }
  for (const char* other : {"cross-site", "same-site"}) {
    asked.site = other;
    EXPECT_EQ(answer_of(guard, asked), 403) << other;
    EXPECT_NO_THROW(guard.check(asked, Asks::kNothing)) << "the page may be linked to";
  }
}

class KeysFile : public ::testing::Test {
 protected:
  void SetUp() override {
    ApiKeys keys;
    text_ = keys.add({"reader", Role::kRead, "", 6000});
    keys.write(path_);
  }

  [[nodiscard]] Head head(const std::string& scheme = "Bearer ") const {
    Head made = head_to("example.org");
    made.authorization = scheme + text_;
    return made;
  }

  TempDir folder_;
  std::filesystem::path path_ = folder_ / "keys.json";
  std::string text_;
};

TEST_F(KeysFile, PagesOfOtherSitesMayAskWhereTheyAreNamed) {
  Guard guard(path_, {"https://shop.example"});
  Head asked = head();
  asked.origin = "https://shop.example";
  EXPECT_EQ(answer_of(guard, asked), 200);
  asked.site = "cross-site";
  EXPECT_EQ(answer_of(guard, asked), 200);
  asked.origin = "https://shop.example.evil";
  EXPECT_EQ(answer_of(guard, asked), 403);
  Guard all(path_, {"*"});
  EXPECT_EQ(answer_of(all, asked), 200);
  EXPECT_THROW(Guard(path_, {"shop.example"}), UsageError);
  EXPECT_THROW(Guard(path_, {"https://shop.example/"}), UsageError);
  EXPECT_THROW(Guard({}, {"https://shop.example"}), UsageError) << "without keys, any visitor's browser could ask";
}

TEST_F(KeysFile, TheSchemeIsTheSameInSmallAndInCapitalLetters) {
  Guard guard(path_);
  for (const char* scheme : {"Bearer ", "bearer ", "BEARER "}) EXPECT_EQ(answer_of(guard, head(scheme)), 200) << scheme;
  for (const char* scheme : {"", "Bearer", "Basic ", "bearer\t", " bearer "})
    EXPECT_EQ(answer_of(guard, head(scheme)), 401) << scheme;
}

TEST_F(KeysFile, DeletingItRevokesEveryKeyAndIsLogged) {
  Guard guard(path_);
  EXPECT_EQ(answer_of(guard, head()), 200);
  const Logged logged;
  std::filesystem::rename(path_, folder_ / "aside");
  EXPECT_EQ(answer_of(guard, head()), 401);
  EXPECT_EQ(answer_of(guard, head()), 401);
  const std::string stated = logged.text();
  const size_t first = stated.find("the file of API keys is missing");
  EXPECT_NE(first, std::string::npos) << stated;
  EXPECT_EQ(stated.find("is missing", first + 32), std::string::npos) << "once is enough: " << stated;
  std::filesystem::rename(folder_ / "aside", path_);
  EXPECT_EQ(answer_of(guard, head()), 200);
}

}  // namespace
}  // namespace protocom::http
