#include "store/recognizer_id.h"

#include <gmock/gmock.h>

#include "store/recognizer_file_support.h"
#include "support/message_of.h"
#include "support/sqlite_file.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Ne;

/// "a.pcm", and "b.pcm", made from the same parts.
class RecognizerId : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::rename(path_, folder_ / "b.pcm");
    make_file(folder_);
  }
  std::string id(const char* name = "a.pcm") const { return recognizer_id(RecognizerFile(folder_ / name)); }
  void renew(const char* name) const {
    RecognizerFile(path_).write_renewed(folder_ / name, small_settings(),
                                        {{"backbone", folder_ / "backbone.npz"}, {"model", folder_ / "model.npz"}}, {},
                                        {});
  }

  TempDir folder_;
  fs::path path_ = make_file(folder_);
};

TEST_F(RecognizerId, IsOfOneRecognizerHoweverItIsChanged) {
  const std::string id = this->id();
  EXPECT_THAT(id, ::testing::SizeIs(16));
  EXPECT_THAT(this->id("b.pcm"), Ne(id)) << "made of the same parts";
  RecognizerFile file(path_);
  file.enrol({enrolment("dog", {}, {})});
  EXPECT_EQ(this->id(), id);
  file.undo();
  file.compact();
  EXPECT_EQ(this->id(), id);
  fs::copy_file(path_, folder_ / "moved.pcm");
  EXPECT_EQ(this->id("moved.pcm"), id);
}

TEST_F(RecognizerId, StaysWhenTheRecognizerIsRenewedInItsPlace) {
  const std::string id = this->id();
  renew("renewed.pcm");
  EXPECT_THAT(this->id("renewed.pcm"), Ne(id)) << "both are there now";
  renew("a.pcm");
  EXPECT_EQ(this->id(), id);
}

TEST_F(RecognizerId, IsAskedForByNameWhereItIsMissing) {
  for (const char* damage : {"json_remove(json, '$.details.id')", "json_set(json, '$.details.id', 7)"}) {
    SqliteFile(path_).run(std::string("UPDATE header SET json = ") + damage);
    EXPECT_THAT(message_of([&] { id(); }), HasSubstr("a.pcm: the header is damaged: no id"));
  }
}

TEST_F(RecognizerId, IsNotAskedForWhereAFileIsFollowed) {
  RecognizerFile file(path_);
  RecognizerFile(folder_ / "b.pcm").enrol({enrolment("dog", {}, {})});
  fs::rename(folder_ / "b.pcm", path_);
  EXPECT_TRUE(file.follow());
  EXPECT_TRUE(file.has_class("dog"));
  RecognizerSettings other = small_settings();
  other.feature_dim = 3;
  fs::remove(path_);
  make_file(folder_, other);
  EXPECT_THAT(message_of([&] { file.follow(); }), HasSubstr("it was replaced by another recognizer"));
}

}  // namespace
}  // namespace protocom::testing
