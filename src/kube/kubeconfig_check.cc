#include "kube/kubeconfig_check.h"

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/base64.h"
#include "base/strings.h"
#include "kube/kubeconfig.h"

namespace baton::kube {
namespace {

enum class Type : uint8_t {
  kString,
  kBool,
  kBytes,       // base64
  kStrings,     // a list
  kStringMap,   // name to string
  kStringsMap,  // name to list of strings
  kObject,      // of `fields`
  kObjects,     // a list of them
  kNamed,       // a list of them in which each "name" is there once
};

struct Field {
  std::string_view name;
  Type type;
  std::span<const Field> fields = {};
};

// What the fields are called and hold: k8s.io/client-go/tools/clientcmd/api/v1.
constexpr Field kExtension[] = {{"name", Type::kString}};
constexpr Field kVariable[] = {{"name", Type::kString}, {"value", Type::kString}};
constexpr Field kExec[] = {
    {"command", Type::kString},         {"args", Type::kStrings},       {"env", Type::kObjects, kVariable},
    {"apiVersion", Type::kString},      {"installHint", Type::kString}, {"provideClusterInfo", Type::kBool},
    {"interactiveMode", Type::kString},
};
constexpr Field kAuthProvider[] = {{"name", Type::kString}, {"config", Type::kStringMap}};
constexpr Field kCluster[] = {
    {"server", Type::kString},
    {"tls-server-name", Type::kString},
    {"insecure-skip-tls-verify", Type::kBool},
    {"certificate-authority", Type::kString},
    {"certificate-authority-data", Type::kBytes},
    {"proxy-url", Type::kString},
    {"disable-compression", Type::kBool},
    {"extensions", Type::kNamed, kExtension},
};
constexpr Field kUser[] = {
    {"client-certificate", Type::kString},
    {"client-certificate-data", Type::kBytes},
    {"client-key", Type::kString},
    {"client-key-data", Type::kBytes},
    {"token", Type::kString},
    {"tokenFile", Type::kString},
    {"as", Type::kString},
    {"as-uid", Type::kString},
    {"as-groups", Type::kStrings},
    {"as-user-extra", Type::kStringsMap},
    {"username", Type::kString},
    {"password", Type::kString},
    {"auth-provider", Type::kObject, kAuthProvider},
    {"exec", Type::kObject, kExec},
    {"extensions", Type::kNamed, kExtension},
};
constexpr Field kContext[] = {
    {"cluster", Type::kString},
    {"user", Type::kString},
    {"namespace", Type::kString},
    {"extensions", Type::kNamed, kExtension},
};
constexpr Field kNamedCluster[] = {{"name", Type::kString}, {"cluster", Type::kObject, kCluster}};
constexpr Field kNamedUser[] = {{"name", Type::kString}, {"user", Type::kObject, kUser}};
constexpr Field kNamedContext[] = {{"name", Type::kString}, {"context", Type::kObject, kContext}};
constexpr Field kDocument[] = {
    {"kind", Type::kString},
    {"apiVersion", Type::kString},
    {"current-context", Type::kString},
    {"clusters", Type::kNamed, kNamedCluster},
    {"users", Type::kNamed, kNamedUser},
    {"contexts", Type::kNamed, kNamedContext},
    {"extensions", Type::kNamed, kExtension},
};

// Says the kind of what is there, never its text: it may be a secret.
Error Mismatch(std::string_view where, std::string_view expected, const json::Value& value) {
  return InvalidError(StrCat(where, ": ", expected, " is expected, not ", json::KindName(value.kind())));
}

Result<void> CheckString(const json::Value& value, std::string_view where) {
  if (value.is_null() || value.is_string()) return {};
  const bool scalar = !value.is_array() && !value.is_object();
  return Mismatch(where, scalar ? "a string (in quotes)" : "a string", value);
}

Result<void> CheckStrings(const json::Value& value, std::string_view where) {
  if (value.is_null()) return {};
  if (!value.is_array()) return Mismatch(where, "a list of strings", value);
  for (size_t i = 0; i < value.size(); ++i) TRY(CheckString(value[i], StrCat(where, "[", i, "]")));
  return {};
}

Result<void> CheckMap(const json::Value& value, Type of, std::string_view where) {
  if (value.is_null()) return {};
  if (!value.is_object()) return Mismatch(where, "an object", value);
  for (const json::Member& member : value.members()) {
    const std::string inner = StrCat(where, "[", Quote(member.key()), "]");
    TRY(of == Type::kString ? CheckString(member.value(), inner) : CheckStrings(member.value(), inner));
  }
  return {};
}

Result<void> CheckObject(const json::Value& value, std::span<const Field> fields, std::string_view where);

Result<void> CheckObjects(const json::Value& value, const Field& field, std::string_view where) {
  if (value.is_null()) return {};
  if (!value.is_array()) return Mismatch(where, "a list", value);
  if (value.size() > kKubeconfigEntriesMax) {
    return TooLargeError(StrCat(where, ": ", value.size(), " entries, at most ", kKubeconfigEntriesMax, " are read"));
  }
  std::set<std::string_view> names;
  for (size_t i = 0; i < value.size(); ++i) {
    const std::string inner = StrCat(where, "[", i, "]");
    TRY(CheckObject(value[i], field.fields, inner));
    if (field.type == Type::kNamed && !names.insert(value[i]["name"].str()).second) {
      return InvalidError(StrCat(inner, ".name: ", Quote(value[i]["name"].str()), " is there twice"));
    }
  }
  return {};
}

// Recurses only as deep as the tables do.
Result<void> CheckField(const json::Value& value, const Field& field, std::string_view where) {
  switch (field.type) {
    case Type::kString:
      return CheckString(value, where);
    case Type::kBool:
      if (!value.is_null() && !value.is_bool()) return Mismatch(where, "true or false", value);
      return {};
    case Type::kBytes: {
      TRY(CheckString(value, where));
      const Result<std::string> bytes = Base64Decode(value.str());
      if (!bytes.ok()) return bytes.error().Context(where);
      return {};
    }
    case Type::kStrings:
      return CheckStrings(value, where);
    case Type::kStringMap:
      return CheckMap(value, Type::kString, where);
    case Type::kStringsMap:
      return CheckMap(value, Type::kStrings, where);
    case Type::kObject:
      return CheckObject(value, field.fields, where);
    case Type::kObjects:
    case Type::kNamed:
      return CheckObjects(value, field, where);
  }
  return {};
}

Result<void> CheckObject(const json::Value& value, std::span<const Field> fields, std::string_view where) {
  if (value.is_null()) return {};
  if (!value.is_object()) return Mismatch(where, "an object", value);
  for (const Field& field : fields) {
    const json::Value* member = value.Find(field.name);
    if (member == nullptr) continue;
    TRY(CheckField(*member, field, where.empty() ? std::string(field.name) : StrCat(where, ".", field.name)));
  }
  return {};
}

}  // namespace

Result<void> CheckKubeconfig(const json::Value& document) {
  if (!document.is_object()) {
    return InvalidError(StrCat("a kubeconfig is an object, not ", json::KindName(document.kind())));
  }
  TRY(CheckObject(document, kDocument, ""));
  const std::string_view kind = document["kind"].str();
  if (!kind.empty() && kind != "Config")
    return InvalidError(StrCat("kind: ", Quote(kind), " is no kubeconfig (Config)"));
  const std::string_view version = document["apiVersion"].str();
  if (!version.empty() && version != "v1") {
    return InvalidError(StrCat("apiVersion: ", Quote(version), " is not known: it is v1"));
  }
  return {};
}

}  // namespace baton::kube
