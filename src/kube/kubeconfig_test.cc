// Parsing, merging and resolving kubeconfigs; what is refused, and with which words.
#include "kube/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "kube/kubeconfig_access.h"
#include "kube/kubeconfig_for_test.h"
#include "kube/kubeconfig_path.h"
#include "rt/files_testing.h"

namespace baton::kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kPath = "/home/me/.kube/config";

// One context "c" of one cluster "k" and one user "u".
std::string Text(std::string_view cluster, std::string_view user, std::string_view context = "") {
  return StrCat("current-context: c\nclusters: [{name: k, cluster: {", cluster, "}}]\nusers: [{name: u, user: {", user,
                "}}]\ncontexts: [{name: c, context: {cluster: k, user: u", context, "}}]\n");
}

constexpr std::string_view kServer = "server: 'https://s:1'";

Result<ClusterAccess> Access(std::string_view text, std::string_view path = kPath) {
  const Kubeconfig config = TRY(Kubeconfig::Parse(text, path));
  return AccessWithFiles(config, "");
}

TEST(KubeconfigTest, GivesWhatTheEntriesSay) {
  struct Row {
    std::string cluster, user, context, want;
  };
  const std::string data = StrCat("-data: ", kPemBase64);
  const std::string pem(kPem);
  const Row rows[] = {
      {"server: 'https://s'", "", "", "server=https://s:443"},
      {"server: 'HTTPS://S:6443/'", "", ", namespace: team", "ns=team server=https://S:6443"},
      {"server: 'https://[::1]/a/b//?q#f'", "", "", "server=https://[::1]:443/a/b"},
      {StrCat(kServer, ", certificate-authority: ca.crt"), "", "",
       StrCat("server=https://s:1 ca=", pem, "/home/me/.kube/ca.crt")},
      {StrCat(kServer, ", certificate-authority: ../../x/./ca.crt"), "", "",
       StrCat("server=https://s:1 ca=", pem, "/home/x/ca.crt")},
      {StrCat(kServer, ", certificate-authority: /ca.crt, certificate-authority", data), "", "",
       StrCat("server=https://s:1 ca=", pem)},
      {StrCat(kServer, ", certificate-authority: /ca.crt, certificate-authority-data: ''"), "", "",
       StrCat("server=https://s:1 ca=", pem, "/ca.crt")},
      {StrCat(kServer, ", insecure-skip-tls-verify: true, tls-server-name: tn, disable-compression: true"), "", "",
       "server=https://s:1 tls=tn insecure=true uncompressed=true"},
      {StrCat(kServer, ", proxy-url: 'http://u:p@proxy:3128'"), "", "",
       "server=https://s:1 proxy=http://u:p@proxy:3128"},
      {std::string(kServer), "token: t", "", "server=https://s:1 token=t"},
      {std::string(kServer), "tokenFile: t", "",
       "server=https://s:1 token=</home/me/.kube/t> tokenFile=/home/me/.kube/t"},
      {std::string(kServer), "token: t, tokenFile: /f", "", "server=https://s:1 token=t tokenFile=/f"},
      {std::string(kServer), "username: me, password: p", "", "server=https://s:1 username=me password=p"},
      {std::string(kServer), "password: p", "", "server=https://s:1"},
      {std::string(kServer), StrCat("client-certificate", data, ", client-key: k"), "",
       StrCat("server=https://s:1 cert=", pem, " key=", pem, "/home/me/.kube/k")},
      {std::string(kServer), "client-key: k", "", "server=https://s:1"},
      {std::string(kServer), "as: j, as-uid: '1', as-groups: [g, h], as-user-extra: {k: [v, w]}", "",
       "server=https://s:1 as=j as-uid=1 as-group=g as-group=h as-extra=k:v as-extra=k:w"},
      {"server: 'http://s', certificate-authority: ca", "token: t, as: j", "", "server=http://s:80 as=j"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(StrCat(row.cluster, " | ", row.user));
    const Result<ClusterAccess> access = Access(Text(row.cluster, row.user, row.context));
    ASSERT_TRUE(access.ok()) << access.error().ToString();
    EXPECT_EQ(Describe(*access), StrCat("context=c cluster=k user=u ", row.want));
  }
}

TEST(KubeconfigTest, GivesTheProgramThatGivesCredentials) {
  struct Row {
    std::string user, want;
  };
  constexpr std::string_view kV1 = "apiVersion: client.authentication.k8s.io/v1, ";
  const Row rows[] = {
      {StrCat("exec: {", kV1,
              "command: login, interactiveMode: Never, args: [a, ''], env: [{name: NAME, value: v=w}]}"),
       "exec=client.authentication.k8s.io/v1,login,Never,false,,{\"c\":1} arg='a' arg='' env=NAME=v=w"},
      {StrCat("exec: {", kV1, "command: ./login, interactiveMode: Always, provideClusterInfo: true, installHint: h}"),
       "exec=client.authentication.k8s.io/v1,/home/me/.kube/login,Always,true,h,{\"c\":1}"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: /bin/../login}",
       "exec=client.authentication.k8s.io/v1beta1,/bin/../login,IfAvailable,false,,{\"c\":1}"},
      {StrCat("token: t, exec: {", kV1, "command: login, interactiveMode: Never}"), "token=t"},
  };
  const std::string cluster = StrCat(
      kServer,
      ", extensions: [{name: other, extension: 1}, {name: client.authentication.k8s.io/exec, extension: {c: 1}}]");
  for (const Row& row : rows) {
    const Result<ClusterAccess> access = Access(Text(cluster, row.user));
    ASSERT_TRUE(access.ok()) << access.error().ToString();
    EXPECT_EQ(Describe(*access), StrCat("context=c cluster=k user=u server=https://s:1 ", row.want));
  }
}

TEST(KubeconfigTest, WarnsOfWhatIsInsecureOrIgnored) {
  struct Row {
    std::string cluster, user, want;
  };
  const std::string data = StrCat("-data: ", kPemBase64);
  const Row rows[] = {
      {StrCat(kServer, ", insecure-skip-tls-verify: true"), "",
       "clusters[0].cluster.insecure-skip-tls-verify: the server is not verified"},
      {"server: 'http://s'", "", "clusters[0].cluster.server: plain http"},
      {"server: 'https://s?q'", "", "clusters[0].cluster.server: query and fragment are ignored"},
      {StrCat(kServer, ", certificate-authority: f, certificate-authority", data), "",
       "clusters[0].cluster.certificate-authority: ignored"},
      {std::string(kServer), "token: t, tokenFile: f", "users[0].user.token: used only while"},
      {std::string(kServer), "password: t", "users[0].user.password: ignored"},
      {std::string(kServer), "client-key: t", "users[0].user.client-key: ignored"},
      {std::string(kServer), StrCat("client-certificate: c, client-key: t, client-key", data),
       "users[0].user.client-key: ignored: client-key-data wins"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(StrCat(row.cluster, " | ", row.user));
    const Result<ClusterAccess> access = Access(Text(row.cluster, row.user));
    ASSERT_TRUE(access.ok()) << access.error().ToString();
    EXPECT_THAT(access->warnings, ElementsAre(HasSubstr(StrCat(kPath, ": ", row.want))));
  }
  EXPECT_THAT(Access(Text(kServer, "token: t"))->warnings, IsEmpty());
}

TEST(KubeconfigTest, ErrorsNameTheFileAndTheField) {
  struct Row {
    std::string text, want;
  };
  const std::string server(kServer);
  const std::string data = StrCat("-data: ", kPemBase64);
  const std::string exec = StrCat("exec: {apiVersion: client.authentication.k8s.io/v1");
  const Row rows[] = {
      // the whole file
      {"a: [", "line "},
      {"a:\n  token: !!int s3cret", "line 2, column 10: a value is not what its tag says"},
      {"- a", "a kubeconfig is an object, not array"},
      {"{}\n---\na: 1\n", "a kubeconfig is one document, not several"},
      {"kind: Pod", "kind: \"Pod\" is no kubeconfig (Config)"},
      {"apiVersion: v2", "apiVersion: \"v2\" is not known: it is v1"},
      {"clusters: {}", "clusters: a list is expected, not object"},
      {"users: [a]", "users[0]: an object is expected, not string"},
      {"users: [{name: 1}]", "users[0].name: a string (in quotes) is expected, not int"},
      {"users: [{}, {name: a}, {name: a}]", "users[2].name: \"a\" is there twice"},
      {"users: [{name: a, user: {token: [s3cret]}}]", "users[0].user.token: a string is expected, not array"},
      {"users: [{name: a, user: {token: 1234}}]", "users[0].user.token: a string (in quotes) is expected, not int"},
      {"users: [{}, {name: a, user: {client-key-data: s3cret}}]",
       "users[1].user.client-key-data: illegal base64 data: its length is no multiple of 4"},
      {"users: [{name: a, user: {as-groups: [1]}}]", "users[0].user.as-groups[0]: a string (in quotes) is expected"},
      {"users: [{name: a, user: {as-user-extra: {k: v}}}]",
       "users[0].user.as-user-extra[\"k\"]: a list of strings is expected, not string"},
      {"users: [{name: a, user: {auth-provider: {config: {k: 1}}}}]",
       "users[0].user.auth-provider.config[\"k\"]: a str"},
      {"users: [{name: a, user: {exec: {env: [{value: 1}]}}}]", "users[0].user.exec.env[0].value: a string"},
      {"clusters: [{name: a, cluster: {insecure-skip-tls-verify: 'true'}}]",
       "clusters[0].cluster.insecure-skip-tls-verify: true or false is expected, not string"},
      // the context
      {"", "no context is named, and current-context is not set: there are no contexts"},
      {"contexts: [{name: a}, {name: b}]", "current-context is not set: there are \"a\", \"b\""},
      {"current-context: x\ncontexts: [{name: a}]", "current-context: no context \"x\": there are \"a\""},
      {"current-context: a\ncontexts: [{name: a}]", "contexts[0].context.cluster: the context needs one"},
      {"current-context: a\ncontexts: [{name: a, context: {cluster: x}}]",
       "contexts[0].context.cluster: there is no cluster \"x\""},
      {"current-context: a\nclusters: [{name: x}]\ncontexts: [{name: a, context: {cluster: x, user: w}}]",
       "contexts[0].context.user: there is no user \"w\""},
      {Text(server, "", ", namespace: A_B"), "contexts[0].context.namespace: \"A_B\" cannot be the name"},
      // the cluster
      {Text("", ""), "clusters[0].cluster.server: "},
      {Text("server: 's:6443'", ""), "clusters[0].cluster.server: a server begins with https://"},
      {Text("server: 'ftp://s'", ""), "clusters[0].cluster.server: a server begins with https://"},
      {Text("server: 'https://u:s3cret@s'", ""), "clusters[0].cluster.server: a server has no user in it"},
      {Text("server: 'https://s:0'", ""), "clusters[0].cluster.server: "},
      {Text("server: 'https://s:99999'", ""), "clusters[0].cluster.server: "},
      {Text("server: 'https:///a'", ""), "clusters[0].cluster.server: "},
      {Text("server: 'https://s/a b'", ""), "clusters[0].cluster.server: its path has a character"},
      {Text(StrCat(server, ", proxy-url: 'socks5://p'"), ""),
       "clusters[0].cluster.proxy-url: Baton uses http:// proxies"},
      {Text(StrCat(server, ", proxy-url: 'u:s3cret@p'"), ""),
       "clusters[0].cluster.proxy-url: a proxy begins with http://"},
      {Text(StrCat(server, ", proxy-url: 'http://'"), ""), "clusters[0].cluster.proxy-url: no host"},
      {Text(StrCat(server, ", insecure-skip-tls-verify: true, certificate-authority: f"), ""),
       "clusters[0].cluster.insecure-skip-tls-verify: a certificate authority may not be given with it"},
      {Text(StrCat(server, ", certificate-authority-data: czNjcmV0"), ""),
       "clusters[0].cluster.certificate-authority-data: no PEM block"},
      // the user
      {Text(server, "auth-provider: {name: gcp}"),
       "users[0].user.auth-provider: \"gcp\" is not supported: use an exec"},
      {Text(server, "token: t, username: me"), "users[0].user.username: a token may not be given with username"},
      {Text(server, "tokenFile: t, username: me"), "users[0].user.username: a token may not be given with username"},
      {Text(server, "token: \"s3cret\\n\""), "users[0].user.token: it has a control character or line break"},
      {Text(server, "client-certificate: c"), "users[0].user.client-key: client-certificate needs a client-key"},
      {Text(server, StrCat("client-certificate", data, ", client-key-data: czNjcmV0")),
       "users[0].user.client-key-data: no PEM block"},
      {Text(server, "as-groups: [a]"), "users[0].user.as: as-uid, as-groups and as-user-extra need the user"},
      {Text(server, "as: \"a\\r\\nb\""), "users[0].user.as: it has a control character"},
      {Text(server, "as: a, as-groups: [\"a\\nb\"]"), "users[0].user.as-groups: a group has a control character"},
      {Text(server, "exec: {command: c}"), "users[0].user.exec.apiVersion: \"\" is not known"},
      {Text(server, "exec: {command: c, apiVersion: client.authentication.k8s.io/v1alpha1}"),
       "v1alpha1\" is not known"},
      {Text(server, StrCat(exec, "}")), "users[0].user.exec.command: the program is missing"},
      {Text(server, StrCat(exec, ", command: c}")), "users[0].user.exec.interactiveMode: it is Never"},
      {Text(server, StrCat(exec, ", command: c, env: [{name: A, value: v}, {}]}")), "users[0].user.exec.env[1].name: "},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const Result<ClusterAccess> access = Access(row.text);
    ASSERT_FALSE(access.ok()) << Describe(*access);
    EXPECT_THAT(access.error().message(), testing::StartsWith(StrCat(kPath, ": ")));
    EXPECT_THAT(access.error().message(), HasSubstr(row.want));
    EXPECT_THAT(access.error().message(), testing::Not(HasSubstr("s3cret")));
  }
}

TEST(KubeconfigTest, TellsTheKindsOfErrorApart) {
  EXPECT_EQ(Access("contexts: [{name: a}]").error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(Access(Text(kServer, "auth-provider: {name: oidc}")).error().kind(), ErrorKind::kUnsupported);
  EXPECT_EQ(Access("kind: Pod").error().kind(), ErrorKind::kInvalid);
}

TEST(KubeconfigTest, StopsAtItsLimits) {
  const auto bytes = Kubeconfig::Parse(std::string(kKubeconfigBytesMax + 1, '#'), kPath);
  EXPECT_EQ(bytes.error().kind(), ErrorKind::kTooLarge);
  std::string many = "contexts:\n";
  for (size_t i = 0; i <= kKubeconfigEntriesMax; ++i) StrAppend(many, "- name: c", i, "\n");
  const auto entries = Kubeconfig::Parse(many, kPath);
  EXPECT_EQ(entries.error().kind(), ErrorKind::kTooLarge);
  EXPECT_EQ(entries.error().message(), StrCat(kPath, ": contexts: 10001 entries, at most 10000 are read"));

  many.resize(many.rfind("- name"));
  const Kubeconfig config = Kubeconfig::Parse(many, kPath).value();
  EXPECT_EQ(config.Contexts().size(), kKubeconfigEntriesMax);
  EXPECT_THAT(config.Access("x").error().message(), HasSubstr("\"c18\", \"c19\" and 9980 more"));
}

TEST(KubeconfigTest, MergingKeepsTheFirstOfEachNameAndTheFirstCurrentContext) {
  Kubeconfig a =
      Kubeconfig::Parse("contexts: [{name: x, context: {cluster: k}}, {name: w, context: {cluster: k}}]", "/a/f")
          .value();
  const Kubeconfig b =
      Kubeconfig::Parse(
          "current-context: z\ncontexts: [{name: z, context: {cluster: k}}, {name: x}]\nclusters: [{name: "
          "k, cluster: {server: 'https://b', certificate-authority: ca}}]",
          "/b/f")
          .value();
  const Kubeconfig c =
      Kubeconfig::Parse("current-context: x\nclusters: [{name: k, cluster: {server: 'https://c'}}]", "/c/f").value();
  a.Merge(b);
  a.Merge(c);
  EXPECT_THAT(a.Contexts(), ElementsAre("x", "w", "z"));
  EXPECT_EQ(a.current_context(), "z");
  EXPECT_EQ(AccessWithFiles(a, "x")->server, "https://b:443");
  EXPECT_THAT(a.FilesOf("x").value(),
              ElementsAre(Kubeconfig::FileReference{"/b/ca", "/b/f: clusters[0].cluster.certificate-authority"}));
  EXPECT_EQ(a.Access("q").error().message(), "/a/f, /b/f, /c/f: no context \"q\": there are \"x\", \"w\", \"z\"");
}

TEST(KubeconfigTest, TextThatIsInNoFileHasNoRelativePaths) {
  const std::string relative = Text(StrCat(kServer, ", certificate-authority: ca"), "");
  EXPECT_EQ(
      Access(relative, "").error().message(),
      "kubeconfig: clusters[0].cluster.certificate-authority: the path \"ca\" is relative, and this kubeconfig is in "
      "no directory");
  EXPECT_EQ(Access(Text(StrCat(kServer, ", certificate-authority: /ca"), ""), "")->ca_pem, StrCat(kPem, "/ca"));
}

TEST(KubeconfigTest, AReferencedFileThatHoldsNothingIsAnErrorAndNeverNone) {
  const Kubeconfig ca = Kubeconfig::Parse(Text(StrCat(kServer, ", certificate-authority: /ca"), ""), kPath).value();
  EXPECT_THAT(ca.Access("").error().message(), HasSubstr("certificate-authority: \"/ca\" was not read"));
  EXPECT_THAT(ca.Access("", {{"/ca", ""}}).error().message(), HasSubstr("no PEM block"));
  const Kubeconfig token = Kubeconfig::Parse(Text(kServer, "tokenFile: /t"), kPath).value();
  EXPECT_THAT(token.Access("", {{"/t", " \n"}}).error().message(), HasSubstr("tokenFile: \"/t\" is empty"));
  EXPECT_THAT(token.Access("", {{"/t", "a\nb"}}).error().message(), HasSubstr("\"/t\" has more than a token in it"));
  EXPECT_EQ(token.Access("", {{"/t", "a\n"}})->token, "a");
}

TEST(KubeconfigTest, PathsAreCleanedAndMappedToTheFilesRoot) {
  struct Row {
    std::string path, clean, inside;  // "": an error
  };
  const Row rows[] = {
      {"/a/b", "/a/b", "a/b"},
      {"a/b", "a/b", "a/b"},
      {"/a/./b//../c/", "/a/c", "a/c"},
      {"/../a", "/a", "a"},
      {"../a", "../a", ""},
      {"a/../..", "..", ""},
      {"/", "/", ""},
      {"", ".", ""},
      {"/..", "/", ""},
      {"..a/b", "..a/b", "..a/b"},
      {"../../a/..", "../..", ""},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(CleanPath(row.path), row.clean);
    EXPECT_EQ(PathInFiles(row.path).value_or(""), row.inside) << row.path;
  }
  EXPECT_EQ(ResolvePath("config", "../ca").value(), "../ca");
  EXPECT_EQ(ResolvePath("/config", "ca").value(), "/ca");
  EXPECT_EQ(ResolvePath("d/config", "ca").value(), "d/ca");
}

// ---- files ----

class KubeconfigFilesTest : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) { machine_.Append(path, text); }
  Result<Kubeconfig> Load(std::vector<std::string> paths) {
    return machine_.Run(LoadKubeconfig(machine_.files(), std::move(paths)));
  }
  Result<ClusterAccess> LoadFrom(const std::string& path) {
    return machine_.Run(LoadAccess(machine_.files(), Load({path}).value(), ""));
  }
  rt::Machine machine_{1};
};

TEST_F(KubeconfigFilesTest, SkipsFilesThatAreNotThereWhenThereAreSeveral) {
  Write("a", "contexts: [{name: a}]");
  Write("b", "contexts: [{name: b}]");
  EXPECT_THAT(Load({"/no", "", "/b", "/a", "/b"})->Contexts(), ElementsAre("b", "a"));
  EXPECT_THAT(Load({"/a"})->Contexts(), ElementsAre("a"));
  EXPECT_EQ(Load({"/no"}).error().kind(), ErrorKind::kNotFound);
  EXPECT_THAT(Load({"/no"}).error().message(), testing::StartsWith("kubeconfig /no: "));
  EXPECT_EQ(Load({"/no", "/nor"}).error().message(), "none of the kubeconfig files is there: /no, /nor");
  EXPECT_EQ(Load({"", ""}).error().message(), "no kubeconfig file is named");
  Write("bad", "kind: Pod");
  EXPECT_THAT(Load({"/a", "/bad"}).error().message(), testing::StartsWith("/bad: kind: "));
}

TEST_F(KubeconfigFilesTest, ReadsWhatTheContextReferences) {
  machine_.Must(machine_.files().MakeDirectory("d/pki"));
  Write("d/config", Text(StrCat(kServer, ", certificate-authority: pki/ca"),
                         "client-certificate: /d/pki/cert, client-key: pki/../key, tokenFile: pki/token"));
  Write("d/pki/ca", StrCat(kPem, "ca"));
  Write("d/pki/cert", StrCat(kPem, "cert"));
  Write("d/key", StrCat(kPem, "key"));
  EXPECT_THAT(LoadFrom("/d/config").error().message(),
              testing::StartsWith("/d/config: users[0].user.tokenFile: /d/pki/token: "));
  Write("d/pki/token", "t\n");
  const Result<ClusterAccess> access = LoadFrom("/d/config");
  ASSERT_TRUE(access.ok()) << access.error().ToString();
  EXPECT_EQ(Describe(*access), StrCat("context=c cluster=k user=u server=https://s:1 ca=", kPem, "ca cert=", kPem,
                                      "cert key=", kPem, "key token=t tokenFile=/d/pki/token"));
}

TEST_F(KubeconfigFilesTest, ReadsNoMoreThanItsLimits) {
  Write("config", Text(kServer, "tokenFile: token"));
  Write("token", std::string(kReferencedFileBytesMax, 'x'));
  EXPECT_EQ(LoadFrom("/config")->token.size(), kReferencedFileBytesMax);
  Write("token", "x");
  EXPECT_EQ(LoadFrom("/config").error().kind(), ErrorKind::kTooLarge);
  Write("big", std::string(kKubeconfigBytesMax + 1, '#'));
  EXPECT_EQ(Load({"/big"}).error().kind(), ErrorKind::kTooLarge);
}

// ---- in a pod ----

TEST_F(KubeconfigFilesTest, ReadsWhatAPodIsGiven) {
  const auto load = [&] { return machine_.Run(LoadInClusterAccess(machine_.files(), "10.96.0.1", "443")); };
  const std::string directory(kServiceAccountDirectory.substr(1));
  EXPECT_EQ(load().error().kind(), ErrorKind::kNotFound);
  EXPECT_THAT(load().error().message(), HasSubstr(StrCat("in a pod, and no kubeconfig: /", directory, "/ca.crt: ")));
  machine_.Must(machine_.files().MakeDirectory(directory));
  Write(directory + "/ca.crt", std::string(kPem));
  const std::string access =
      StrCat("server=https://10.96.0.1:443 ca=", kPem, " tokenFile=", kServiceAccountDirectory, "/token");
  EXPECT_EQ(Describe(*load()), access);
  Write(directory + "/namespace", "team\n");
  EXPECT_EQ(Describe(*load()), StrCat("ns=team ", access));
}

TEST(InClusterAccessTest, TakesServerTokenAndAuthorityOfThePod) {
  const Result<ClusterAccess> access = InClusterAccess("10.96.0.1", "443", std::string(kPem));
  EXPECT_EQ(Describe(*access),
            StrCat("server=https://10.96.0.1:443 ca=", kPem, " tokenFile=", kServiceAccountDirectory, "/token"));
  EXPECT_EQ(InClusterAccess("fd00::1", "443", std::string(kPem))->server, "https://[fd00::1]:443");
  EXPECT_EQ(InClusterAccess("", "443", std::string(kPem)).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(InClusterAccess("a", "", std::string(kPem)).error().kind(), ErrorKind::kNotFound);
  EXPECT_FALSE(InClusterAccess("a", "x", std::string(kPem)).ok());
  EXPECT_FALSE(InClusterAccess("a", "0", std::string(kPem)).ok());
  EXPECT_FALSE(InClusterAccess("a", "443", "").ok());
}

}  // namespace
}  // namespace baton::kube
