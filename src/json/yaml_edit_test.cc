// EditYamlText: what changed is written, the rest stays as it was.
#include "json/yaml_edit.h"

#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"
#include "json/parse.h"
#include "json/print.h"
#include "json/yaml.h"

namespace baton::json {
namespace {

constexpr std::string_view kConfig = R"(# The server's configuration.
# Kept by hand.
server:
  host: example.com   # public name
  port: 8080 # the port
  # Certificates.
  tls:
    enabled: yes
    "cert": 'a.pem'

# Who may come in.
users:
- name: ann
  roles: [admin, "dev"]   # both
# Bob is new.
- name: bob
  roles: []
limits: {cpu: 2, memory: 1Gi}
motd: |
  Hello,
  world.

empty:
last: 0644
)";

struct Row {
  std::string_view what;
  std::string_view pointer;
  std::string_view value;  // JSON, or "" to remove
  std::string_view was;    // a part of the text
  std::string_view now;    // what stands there afterwards; everything else is the same
};

Value FromJson(std::string_view json) { return Parse(StrCat("[", json, "]")).value()[0]; }

// Sets or removes what `pointer` names. In lists "-" appends, and an index with a 0 before it inserts.
void Apply(Value& value, std::string_view pointer, std::string_view json) {
  const size_t slash = pointer.find('/');
  const std::string step(pointer.substr(0, slash));
  const bool is_last = slash == std::string_view::npos;
  if (value.is_array() && is_last && step == "-") return value.Push(FromJson(json));
  const size_t index = value.is_array() ? std::stoul(step) : 0;
  if (!is_last) return Apply(value.is_array() ? value.Edit(index) : value.Edit(step), pointer.substr(slash + 1), json);
  if (value.is_array() && json.empty()) return value.EraseAt(index);
  if (value.is_array() && step.size() > 1) return value.Insert(index, FromJson(json));
  if (json.empty()) {
    value.Erase(step);
  } else {
    (value.is_array() ? value.Edit(index) : value.Edit(step)) = FromJson(json);
  }
}

std::string Edited(std::string_view text, std::string_view pointer, std::string_view json) {
  Result<std::string> edited = EditYamlText(text, [&](Value value) -> Result<Value> {
    Apply(value, pointer, json);
    return value;
  });
  Value wanted = ParseYaml(text).value();
  Apply(wanted, pointer, json);
  EXPECT_EQ(ParseYaml(edited.value()).value(), wanted) << edited.value();
  return *std::move(edited);
}

std::string Replaced(std::string_view text, std::string_view was, std::string_view now) {
  std::string out(text);
  const size_t at = out.find(was);
  EXPECT_NE(at, std::string::npos) << was;
  return out.replace(at, was.size(), now);
}

TEST(YamlEditTest, KeepsEverythingElse) {
  const Row rows[] = {
      {"a number", "server/port", "8081", "port: 8080 # the port", "port: 8081 # the port"},
      {"a bool, whatever its spelling was", "server/tls/enabled", "false", "enabled: yes", "enabled: false"},
      {"a plain string", "server/host", "\"example.org\"", "host: example.com ", "host: example.org "},
      {"a plain string that now needs quotes", "server/host", "\"yes\"", "host: example.com ", "host: \"yes\" "},
      {"a single quoted string", "server/tls/cert", "\"b.pem\"", "'a.pem'", "'b.pem'"},
      {"a single quoted string that no longer can", "server/tls/cert", "\"a\\tb\"", "'a.pem'", "\"a\\tb\""},
      {"a double quoted string between brackets", "users/0/roles/1", "\"ops\"", "\"dev\"", "\"ops\""},
      {"an item between brackets", "users/0/roles/0", "\"ops\"", "[admin,", "[\"ops\","},
      {"a new item between brackets", "users/0/roles/-", "\"ops\"", "\"dev\"]", "\"dev\", \"ops\"]"},
      {"a first item between brackets", "users/0/roles/00", "\"ops\"", "[admin", "[\"ops\", admin"},
      {"no first item between brackets", "users/0/roles/0", "", "[admin, \"dev\"]", "[\"dev\"]"},
      {"no last item between brackets", "users/0/roles/1", "", "[admin, \"dev\"]", "[admin]"},
      {"a value between braces", "limits/cpu", "3", "cpu: 2", "cpu: 3"},
      {"a new key between braces", "limits/disk", "\"1Ti\"", "1Gi}", "1Gi, \"disk\": \"1Ti\"}"},
      {"no first key between braces", "limits/cpu", "", "{cpu: 2, memory", "{memory"},
      {"no last key between braces", "limits/memory", "", "cpu: 2, memory: 1Gi}", "cpu: 2}"},
      {"a new key in a map", "server/tls/key", "\"a.key\"", "'a.pem'\n", "'a.pem'\n    key: a.key\n"},
      {"a new key in the first map", "zone", "\"eu\"", "last: 0644\n", "last: 0644\nzone: eu\n"},
      {"a new map in a map", "server/log", "{\"a\": [1, {\"b\": 2}]}", "'a.pem'\n",
       "'a.pem'\n  log:\n    a:\n    - 1\n    - b: 2\n"},
      {"no key, without its comment", "server/tls", "",
       "  # Certificates.\n  tls:\n    enabled: yes\n    \"cert\": 'a.pem'\n", ""},
      {"no key in the middle", "server/port", "", "  port: 8080 # the port\n", ""},
      {"no first key: the comment speaks of the text", "server", "",
       "server:\n  host: example.com   # public name\n  port: 8080 # the port\n  # Certificates.\n  tls:\n    enabled: "
       "yes\n    \"cert\": 'a.pem'\n",
       ""},
      {"no first key behind a dash", "users/0/name", "", "- name: ann\n  roles", "- roles"},
      {"an item, with its comment", "users/1", "", "# Bob is new.\n- name: bob\n  roles: []\n", ""},
      {"no first item", "users/0", "", "- name: ann\n  roles: [admin, \"dev\"]   # both\n", ""},
      {"a new item", "users/-", "{\"name\": \"cyd\", \"roles\": [\"dev\"]}", "  roles: []\n",
       "  roles: []\n- name: cyd\n  roles:\n  - dev\n"},
      {"an item between others", "users/01", "{\"name\": \"cyd\"}", "# Bob", "- name: cyd\n# Bob"},
      {"an item becomes a scalar", "users/1", "1", "- name: bob\n  roles: []\n", "- 1\n"},
      {"an empty list gets items", "users/1/roles", "[\"dev\", \"ops\"]", "roles: []\n", "roles:\n  - dev\n  - ops\n"},
      {"a map becomes a scalar", "server/tls", "null", "tls:\n    enabled: yes\n    \"cert\": 'a.pem'\n",
       "tls: null\n"},
      {"a map becomes empty", "server/tls", "{}", "tls:\n    enabled: yes\n    \"cert\": 'a.pem'\n", "tls: {}\n"},
      {"a map becomes a list", "server/tls", "[1]", "tls:\n    enabled: yes\n    \"cert\": 'a.pem'\n", "tls:\n  - 1\n"},
      {"a scalar becomes a map, comment and all", "server/port", "{\"a\": 1}", "port: 8080 # the port\n",
       "port: # the port\n    a: 1\n"},
      {"a scalar becomes text of two lines", "server/port", "\"a\\nb\\n\"", "port: 8080 # the port\n",
       "port: | # the port\n    a\n    b\n"},
      {"a block of text changes", "motd", "\"Hi,\\nall.\\n\"", "|\n  Hello,\n  world.\n", "|\n  Hi,\n  all.\n"},
      {"a block of text becomes one line", "motd", "\"Hi\"", "|\n  Hello,\n  world.\n", "Hi\n"},
      {"no block of text", "motd", "", "motd: |\n  Hello,\n  world.\n", ""},
      {"nothing becomes a scalar", "empty", "1", "empty:\n", "empty: 1\n"},
      {"nothing becomes a map", "empty", "{\"a\": 1}", "empty:\n", "empty:\n  a: 1\n"},
      {"no empty key", "empty", "", "empty:\n", ""},
      {"the octal number becomes a string", "last", "\"0644\"", "0644", "\"0644\""},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Edited(kConfig, row.pointer, row.value), Replaced(kConfig, row.was, row.now)) << row.what;
  }
}

TEST(YamlEditTest, ReturnsTheSameBytesWhenNothingChanges) {
  const auto nothing = [](Value value) -> Result<Value> { return value; };
  for (const std::string_view text :
       {kConfig, std::string_view("a: 1.0  # as it was"), std::string_view(" {\"a\": 1.0}")}) {
    EXPECT_EQ(EditYamlText(text, nothing).value(), text);
  }
}

TEST(YamlEditTest, FollowsTheLayoutItFinds) {
  const Row rows[] = {
      {"no line break at the end", "b", "2", "a: 1", "a: 1\nb: 2\n"},
      {"no line break, a new value", "a", "2", "a: 1", "a: 2"},
      {"a list that is indented", "a/-", "2", "a:\n    - 1\n", "a:\n    - 1\n    - 2\n"},
      {"a list in a list", "0/1", "", "- - 1\n  - 2\n- 3\n", "- - 1\n- 3\n"},
      {"the first item of a list in a list", "0/0", "", "- - 1\n  - 2\n- 3\n", "- - 2\n- 3\n"},
      {"a dash alone in its line", "0/a", "2", "-\n  a: 1\n-\n  b: 1\n", "-\n  a: 2\n-\n  b: 1\n"},
      {"an empty item", "1", "2", "- 1\n-\n- 3\n", "- 1\n- 2\n- 3\n"},
      {"indented by four", "a/c", "1", "a:\n    b: 1\n", "a:\n    b: 1\n    c: 1\n"},
      {"a document with markers", "a", "2", "---\na: 1\n...\n", "---\na: 2\n...\n"},
      {"a document with markers gets a key", "b", "2", "--- # c\na: 1\n...\n", "--- # c\na: 1\nb: 2\n...\n"},
      {"letters of several bytes", "k\u00fc/b", "\"\u00df\"", "# \u00e4\nk\u00fc: {\u00f6: \u00e9, b: x} # \u4e2d\n",
       "# \u00e4\nk\u00fc: {\u00f6: \u00e9, b: \"\u00df\"} # \u4e2d\n"},
      {"a byte order mark", "a", "2",
       "\xEF\xBB\xBF"
       "a: 1 # c\n",
       "\xEF\xBB\xBF"
       "a: 2 # c\n"},
      {"lines that end with CR LF", "a", "2", "a: 1 # c\r\nb: 2\r\n", "a: 2 # c\r\nb: 2\r\n"},
      {"a text over two lines", "a", "\"x\"", "a: b\n  c # d\ne: 1\n", "a: x # d\ne: 1\n"},
      {"a folded block", "a", "\"x\"", "a: >-\n  b\n  c\n\n# d\ne: 1\n", "a: x\n\n# d\ne: 1\n"},
      {"a block that keeps blank lines", "a", "\"x\"", "a: |+\n  b\n\ne: 1\n", "a: x\ne: 1\n"},
      {"braces over several lines", "a/c", "3", "a: {\n  b: 1,\n  d: 2\n}\n",
       "a: {\n  b: 1,\n  d: 2,\n  \"c\": 3\n}\n"},
      {"a key without a value", "a/b", "1", "a: {b, c}\n", "a: {b: 1, c}\n"},
      {"a key with a colon only", "a/b", "1", "a: {b: , c}\n", "a: {b: 1 , c}\n"},
      {"an alias gets a value of its own", "b", "2", "a: &x 1 # c\nb: *x # d\n", "a: &x 1 # c\nb: 2 # d\n"},
      {"a key that a merge gave is overridden", "b/x", "2", "a: &x {x: 1}\nb: # c\n  <<: *x\n",
       "a: &x {x: 1}\nb: # c\n  <<: *x\n  x: 2\n"},
      {"a question mark before a key", "a", "2", "? a\n: 1 # c\nb: 1\n", "? a\n: 2 # c\nb: 1\n"},
      {"numbers stay as they are spelled", "b", "2", "a: 0x1F\nb: 1\nc: 1_000\nd: 1.0\n",
       "a: 0x1F\nb: 2\nc: 1_000\nd: 1.0\n"},
      {"a comment in a list", "a/1", "", "a:\n# one\n- 1\n# two\n- 2\n# three\n- 3\n",
       "a:\n# one\n- 1\n# three\n- 3\n"},
      {"the comment of the first key below a key", "a/b", "", "a:\n  # b\n  b: 1\n  c: 2\n", "a:\n  c: 2\n"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Edited(row.was, row.pointer, row.value), row.now) << row.what;
  }
}

TEST(YamlEditTest, LeavesJsonJson) {
  const Row rows[] = {
      {"compact", "b/0", "\"x\"", R"({"a":1,"b":[2]})", R"({"a":1,"b":["x"]})"},
      {"compact with a new key", "c", "{\"d\": null}", R"({"a":1,"b":[2]})", R"({"a":1,"b":[2], "c": {"d":null}})"},
      {"pretty", "c", "true", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"c\": true\n}\n"},
      {"pretty without a key", "a", "", "{\n  \"a\": 1,\n  \"c\": true\n}\n", "{\n  \"c\": true\n}\n"},
      {"escapes that YAML has not", "a", "2", "{\"a\": 1, \"b\": \"\\ud83d\\ude00\"}\n",
       "{\"a\":2,\"b\":\"\U0001F600\"}\n"},
      {"an empty object gets keys", "a", "[1]", "{}\n", "{\"a\":[1]}\n"},
  };
  for (const Row& row : rows) {
    const std::string edited = Edited(row.was, row.pointer, row.value);
    EXPECT_EQ(edited, row.now) << row.what;
    EXPECT_TRUE(Parse(edited).ok()) << row.what;
  }
}

TEST(YamlEditTest, PrintsAnewWhatCannotBeSpliced) {
  // The alias repeats what the edit changes, so only a new text can tell the two apart.
  EXPECT_EQ(Edited("b: &x {c: 1} # c\na: *x\n", "b/c", "2"), "a:\n  c: 1\nb:\n  c: 2\n");
  EXPECT_EQ(Edited("b: &x\n  c: 1\na:\n  <<: *x\n  d: 1\n", "a/c", ""), "a:\n  d: 1\nb:\n  c: 1\n");
  EXPECT_EQ(Edited("# c\n{}\n", "a", "1"), "a: 1\n");
  EXPECT_EQ(EditYamlText("a: 1 # c\n", [](Value) -> Result<Value> { return Value("x"); }).value(), "x\n");
}

TEST(YamlEditTest, ReportsErrors) {
  const auto nothing = [](Value value) -> Result<Value> { return value; };
  EXPECT_EQ(EditYamlText("a: [", nothing).error().message().substr(0, 7), "line 2,");
  EXPECT_EQ(EditYamlText("a: 1\n---\nb: 2\n", nothing).error().message(),
            "line 2, column 1: a second document of 2: exactly one is expected");
  EXPECT_EQ(EditYamlText("a: 1\n", [](Value) -> Result<Value> { return InvalidError("no"); }).error().message(), "no");
}

}  // namespace
}  // namespace baton::json
