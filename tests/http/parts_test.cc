#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "http/api_keys.h"
#include "http/detail/http_error.h"
#include "http/detail/multipart.h"
#include "http/detail/rate_limit.h"
#include "http/detail/target.h"
#include "io/files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::http {
namespace {

using protocom::testing::message_of;
using protocom::testing::TempDir;
using protocom::testing::usage_message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// Returns 0 if nothing is refused.
template <typename Call>
int refused(const Call& call) {
  try {
    call();
    return 0;
  } catch (const HttpError& error) {
    return error.status;
  }
}

constexpr const char* kType = "multipart/form-data; boundary=xyz";
std::string part(const std::string& disposition, const std::string& content) {
  return "--xyz\r\nContent-Disposition: " + disposition + "\r\n\r\n" + content + "\r\n";
}

TEST(Multipart, GivesNamesFileNamesAndContentsAsTheyWereSent) {
  const std::string binary("a\0b\r\n--xy\r\n", 12);
  const std::string body = part("form-data; name=\"image\"; filename=\"a \\\"b\\\";c.png\"", binary) +
                           part("form-data; name=attributes", "") + "--xyz--\r\n";
  const std::vector<Part> parts = parse_multipart(body, kType, 9);
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_EQ(parts[0].name, "image");
  EXPECT_EQ(parts[0].file_name, "a \"b\";c.png");
  EXPECT_EQ(parts[0].content, binary);
  EXPECT_EQ(parts[1].name, "attributes");
  EXPECT_EQ(parts[1].content, "");
  EXPECT_THAT(parse_multipart("--a b--", "Multipart/Form-Data; Boundary=\"a b\"", 9), IsEmpty());
}

TEST(Multipart, RefusesWhatIsNotWhole) {
  const std::string good = part("form-data; name=a", "1");
  for (const std::string& body :
       {std::string(), std::string("text"), "x" + good + "--xyz--", good, good + "--xyz", good + "--xyz--more",
        std::string("--xyz\r\n--xyz--"), "--xyzz" + good, part("form-data", "1") + "--xyz--",
        part("attachment; name=a", "1") + "--xyz--", part("form-data; name=\"a", "1") + "--xyz--",
        part("form-data; name=a; name=b", "1") + "--xyz--", std::string("--xyz\r\nno header\r\n\r\n1\r\n--xyz--"),
        "--xyz\r\nX: " + std::string(5000, 'x') + "\r\n\r\n1\r\n--xyz--"}) {
    EXPECT_EQ(refused([&] { parse_multipart(body, kType, 9); }), 400) << body;
  }
  for (const std::string& type : {std::string("multipart/form-data"), std::string("multipart/form-data; boundary="),
                                  "multipart/form-data; boundary=" + std::string(71, 'x')})
    EXPECT_EQ(refused([&] { parse_multipart(good + "--xyz--", type, 9); }), 400) << type;
  EXPECT_EQ(refused([&] { parse_multipart(good + good + good + "--xyz--", kType, 2); }), 413);
}

TEST(Target, IsSplitBeforeItIsDecoded) {
  EXPECT_THAT(path_of("/"), IsEmpty());
  EXPECT_THAT(path_of("/v1/classes/sea%2Flion%20%25"), ElementsAre("v1", "classes", "sea/lion %"));
  for (const char* wrong : {"", "v1", "/a%", "/a%1", "/a%gg", "/%00", "/%0a", "/%c3", "/a?b"})
    EXPECT_EQ(refused([&] { path_of(wrong); }), 400) << wrong;
  for (const char* missing : {"//", "/a//b", "/a/"}) EXPECT_EQ(refused([&] { path_of(missing); }), 404) << missing;
}

TEST(Target, HasAQueryOfNamesAndValues) {
  using Query = std::map<std::string, std::string>;
  EXPECT_EQ(query_of("/v1/classify"), Query());
  EXPECT_EQ(query_of("/v1/classify?top=3&a%20b=%C3%A9&c="), (Query{{"top", "3"}, {"a b", "\u00e9"}, {"c", ""}}));
  EXPECT_EQ(without_query("/v1/classify?top=3"), "/v1/classify");
  for (const char* wrong : {"/?", "/?a", "/?=1", "/?a=1&", "/?a=1&a=2", "/?a=%", "/?a=%00", "/?a=%c3"})
    EXPECT_EQ(refused([&] { query_of(wrong); }), 400) << wrong;
}

TEST(RateLimit, LetsABurstThroughAndThenAnEvenFlow) {
  RateLimit limit;
  const auto start = RateLimit::Clock::time_point();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(limit.take("a", 60, start), 0) << "a tenth of 60";
  EXPECT_EQ(limit.take("a", 60, start), 1) << "one per second";
  EXPECT_EQ(limit.take("b", 60, start), 0) << "another's bucket";
  EXPECT_EQ(limit.take("a", 60, start + std::chrono::seconds(1)), 0);
  EXPECT_EQ(limit.take("a", 60, start + std::chrono::seconds(1)), 1);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(limit.take("a", 60, start + std::chrono::hours(1)), 0);
  EXPECT_EQ(limit.take("a", 60, start + std::chrono::hours(1)), 1) << "no more than a bucketful is saved up";
  EXPECT_EQ(limit.take("slow", 1, start), 0);
  EXPECT_EQ(limit.take("slow", 1, start), 60);
}

TEST(ApiKeys, AreKeptAsHashesInAFileOfTheirOwner) {
  const TempDir folder;
  ApiKeys keys;
  const std::string text = keys.add({"phone", Role::kWrite, "", 5});
  EXPECT_NE(keys.add({"other", Role::kRead, "", 5}), text);
  keys.write(folder / "keys.json");
  EXPECT_THAT(read_file(folder / "keys.json"), Not(HasSubstr(text.substr(4))));
  struct stat facts {};
  ASSERT_EQ(::stat((folder / "keys.json").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  const ApiKeys again = ApiKeys::read(folder / "keys.json");
  ASSERT_TRUE(again.find(text));
  EXPECT_EQ(again.find(text)->name, "phone");
  EXPECT_EQ(again.find(text)->role, Role::kWrite);
  EXPECT_EQ(again.find(text)->per_minute, 5);
  EXPECT_FALSE(again.find(text + "x"));
  EXPECT_FALSE(again.find(""));
  EXPECT_FALSE(again.find(again.all()[0].sha256)) << "the hash is not a key";
}

TEST(ApiKeys, RefusesWhatCannotBeAKey) {
  const TempDir folder;
  ApiKeys keys;
  keys.add({"phone", Role::kRead, "", 5});
  EXPECT_THAT(usage_message_of([&] { keys.add({"phone", Role::kRead, "", 5}); }), HasSubstr("already"));
  EXPECT_THAT(usage_message_of([&] { keys.add({"", Role::kRead, "", 5}); }), HasSubstr("name"));
  EXPECT_THAT(usage_message_of([&] { keys.add({"x", Role::kRead, "", 0}); }), HasSubstr("minute"));
  EXPECT_THAT(usage_message_of([&] { keys.remove("nobody"); }), HasSubstr("nobody"));
  const auto path = folder / "keys.json";
  keys.write(path);
  ::chmod(path.c_str(), 0644);
  EXPECT_THAT(message_of([&] { ApiKeys::read(path); }), HasSubstr("chmod 600"));
  ::chmod(path.c_str(), 0600);
  for (const char* damaged : {"[]", "{}", R"({"keys": [{}]})",
                              R"({"keys": [{"name": "a", "role": "read", "sha256": "0", "per_minute": 1}]})"}) {
    write_file(path, damaged);
    EXPECT_THAT(message_of([&] { ApiKeys::read(path); }), HasSubstr("keys.json")) << damaged;
  }
}

}  // namespace
}  // namespace protocom::http
