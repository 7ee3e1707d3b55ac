// gen_types DIR PACKAGE...: writes api/types/NAME.h and NAME.cc into DIR for each package of types (api/conversion.h
// tells how they look). Runs while Baton is built, and reads the types with the parser that the server reads them with.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/builtin_texts.h"
#include "api/builtin_types.h"
#include "api/federation_texts.h"
#include "api/federation_types.h"
#include "api/type_text.h"
#include "base/strings.h"

namespace baton::api {
namespace {

constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
constexpr std::string_view kWordsOfCpp[] = {
    "and",      "auto",     "bool",      "break",   "case",   "catch",    "char",   "class",    "const",
    "continue", "default",  "delete",    "do",      "double", "else",     "enum",   "explicit", "export",
    "extern",   "false",    "float",     "for",     "friend", "goto",     "if",     "inline",   "int",
    "long",     "mutable",  "namespace", "new",     "not",    "operator", "or",     "private",  "protected",
    "public",   "register", "requires",  "return",  "short",  "signed",   "sizeof", "raw",      "static",
    "struct",   "switch",   "template",  "this",    "throw",  "true",     "try",    "typedef",  "typename",
    "union",    "unsigned", "using",     "virtual", "void",   "volatile", "while",  "xor"};

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

std::string_view PackageOf(std::string_view type) { return type.substr(0, type.rfind('.')); }
std::string_view LastOf(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// "io.karmada.work.v1alpha2" is work_v1alpha2; "io.karmada.common" is common.
std::string ShortName(std::string_view package) {
  const std::string_view last = LastOf(package);
  const bool version = last.size() > 1 && last[0] == 'v' && std::isdigit(static_cast<unsigned char>(last[1])) != 0;
  return version ? StrCat(LastOf(PackageOf(package)), "_", last) : std::string(last);
}

// "memberUID" is member_uid, "hostIPs" host_ips, "$ref" ref, "namespace" namespace_.
std::string MemberName(std::string_view json) {
  std::string name;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const bool word = IsLower(c) || IsUpper(c) || (c >= '0' && c <= '9');
    if (!word) {
      if (!name.empty() && name.back() != '_') name += '_';
      continue;
    }
    const bool after_lower = i > 0 && !IsUpper(json[i - 1]);
    const bool before_lower = i + 1 < json.size() && IsLower(json[i + 1]) && json.substr(i + 1) != "s";
    if (IsUpper(c) && !name.empty() && name.back() != '_' && (after_lower || before_lower)) name += '_';
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (std::ranges::find(kWordsOfCpp, name) != std::end(kWordsOfCpp)) name += '_';
  return name;
}

// "purgeMode" and "Never" are kPurgeModeNever.
std::string ConstantName(std::string_view field, std::string_view value) {
  std::string name = "k";
  for (const std::string_view part : {field, value}) {
    bool upper = true;
    for (const char c : part) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
        upper = true;
        continue;
      }
      name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
  }
  return name;
}

class Generator {
 public:
  Generator(const TypeTable& builtin, const TypeTable& federation) {
    for (const TypeTable* table : {&builtin, &federation}) {
      for (const std::string_view name : table->Names()) types_.emplace(name, table->Find(name));
    }
    for (const auto& kinds : {BuiltinTypes(), FederationTypes()}) {
      for (const ResourceTypePtr& kind : kinds) {
        if (kind->schema != nullptr) kinds_.emplace(kind->schema->name, kind);
      }
    }
  }

  bool Knows(std::string_view package) const {
    return std::ranges::any_of(types_, [&](const auto& type) { return PackageOf(type.first) == package; });
  }

  std::string Header(std::string_view package) {
    std::string body;
    std::set<std::string> packages;
    for (const std::string_view name : InOrder(package)) StrAppend(body, Struct(name, packages));
    packages.erase(std::string(package));
    std::string text = "// Made by gen_types from the package ";
    StrAppend(text, package, "; api/conversion.h tells how to use it.\n#pragma once\n\n",
              "#include <cstdint>\n#include <map>\n#include <optional>\n#include <string>\n#include <string_view>\n",
              "#include <vector>\n\n#include \"api/conversion.h\"\n");
    for (const std::string& other : packages) StrAppend(text, "#include \"api/types/", ShortName(other), ".h\"\n");
    StrAppend(text, "\nnamespace baton::api::", ShortName(package), " {\n", body,
              "\n}  // namespace baton::api::", ShortName(package), "\n");
    return text;
  }

  std::string Source(std::string_view package) {
    std::string text = "// Made by gen_types.\n";
    StrAppend(text, "#include \"api/types/", ShortName(package), ".h\"\n\nnamespace baton::api::", ShortName(package),
              " {\n");
    for (const std::string_view name : InOrder(package)) {
      StrAppend(text, "\nvoid ", LastOf(name), "::Read(FieldReader& in) {\n", Calls(name, "in"), "}\n");
      StrAppend(text, "\nvoid ", LastOf(name), "::Write(FieldWriter& out) const {\n", Calls(name, "out"), "}\n");
    }
    StrAppend(text, "\n}  // namespace baton::api::", ShortName(package), "\n");
    return text;
  }

 private:
  struct Field {
    std::string type;  // in C++
    std::string_view call;
  };

  static bool IsStruct(const Schema& schema) {
    return schema.type == SchemaType::kObject && !schema.name.empty() && schema.additional_properties == nullptr;
  }

  // A named type with fields that does not contain itself.
  bool HasStruct(const Schema& schema) {
    if (!IsStruct(schema) || schema.properties.empty()) return false;
    if (const auto known = has_struct_.find(schema.name); known != has_struct_.end()) return known->second;
    std::set<std::string_view> seen;
    const bool has = !Reaches(schema, schema.name, seen);
    return has_struct_[schema.name] = has;
  }

  static bool Reaches(const Schema& from, std::string_view wanted, std::set<std::string_view>& seen) {
    const auto ends_there = [&](const Schema* next) {
      if (next == nullptr) return false;
      if (next->name == wanted) return true;
      if (!next->name.empty() && !seen.insert(next->name).second) return false;
      return Reaches(*next, wanted, seen);
    };
    return ends_there(from.items.get()) || ends_there(from.additional_properties.get()) ||
           std::ranges::any_of(from.properties, [&](const auto& field) { return ends_there(field.second.get()); });
  }

  // As a C++ type; the package of each struct in it goes into `packages`.
  std::string TypeOf(const Schema& schema, std::string_view package, std::set<std::string>* packages) {
    switch (schema.type) {
      case SchemaType::kString:
        return "std::string";
      case SchemaType::kInteger:
        return schema.format == "int32" ? "int32_t" : "int64_t";
      case SchemaType::kNumber:
        return "double";
      case SchemaType::kBoolean:
        return "bool";
      case SchemaType::kArray:
        return StrCat("std::vector<", TypeOf(*schema.items, package, packages), ">");
      case SchemaType::kObject:
        break;
      case SchemaType::kAny:
      case SchemaType::kIntOrString:
        return "json::Value";
    }
    if (schema.additional_properties != nullptr)
      return StrCat("std::map<std::string, ", TypeOf(*schema.additional_properties, package, packages), ">");
    if (!HasStruct(schema)) return "json::Value";
    if (packages != nullptr) packages->insert(std::string(PackageOf(schema.name)));
    if (PackageOf(schema.name) == package) return std::string(LastOf(schema.name));
    return StrCat(ShortName(PackageOf(schema.name)), "::", LastOf(schema.name));
  }

  // apiVersion and kind of a kind are what the struct is, not what it says.
  bool IsOfKind(std::string_view type, std::string_view field) const {
    return (field == "apiVersion" || field == "kind") && kinds_.contains(type);
  }

  Field FieldOf(const Schema& owner, const std::string& name, const Schema& schema, std::set<std::string>* packages) {
    const std::string_view package = PackageOf(owner.name);
    if (name == "metadata" && kinds_.contains(owner.name))
      return {TypeOf(*types_.at(std::string(kObjectMeta)), package, packages), "Plain"};
    const std::string type = TypeOf(schema, package, packages);
    if (schema.type == SchemaType::kAny) return {StrCat("std::optional<", type, ">"), "Anything"};
    const bool required = std::ranges::find(owner.required, name) != owner.required.end();
    if (required && !schema.default_value) return {type, "Required"};
    if (required) return {type, "Plain"};
    const bool items = schema.type == SchemaType::kArray ||
                       (schema.type == SchemaType::kObject && schema.additional_properties != nullptr);
    if (items) return {type, "Items"};
    return {StrCat("std::optional<", type, ">"), "Optional"};
  }

  // The package's types, those that are used before those that use them.
  std::vector<std::string_view> InOrder(std::string_view package) {
    std::vector<std::string_view> order;
    std::set<std::string_view> seen;
    for (const auto& [name, schema] : types_) Visit(*schema, package, seen, order);
    return order;
  }

  void Visit(const Schema& schema, std::string_view package, std::set<std::string_view>& seen,
             std::vector<std::string_view>& order) {
    if (schema.items != nullptr) return Visit(*schema.items, package, seen, order);
    if (schema.additional_properties != nullptr) return Visit(*schema.additional_properties, package, seen, order);
    if (!HasStruct(schema) || PackageOf(schema.name) != package || !seen.insert(schema.name).second) return;
    for (const auto& [name, field] : schema.properties) Visit(*field, package, seen, order);
    order.push_back(schema.name);
  }

  std::string Struct(std::string_view name, std::set<std::string>& packages) {
    const Schema& schema = *types_.at(std::string(name));
    std::string text;
    if (!schema.description.empty()) StrAppend(text, "\n// ", schema.description);
    StrAppend(text, "\nstruct ", LastOf(name), " {\n");
    if (const auto kind = kinds_.find(name); kind != kinds_.end()) {
      const ResourceType& names = *kind->second;
      for (const auto& [constant, value] : {std::pair("kGroup", names.group), std::pair("kVersion", names.version),
                                            std::pair("kKind", names.kind), std::pair("kPlural", names.plural)}) {
        StrAppend(text, "  static constexpr std::string_view ", constant, " = \"", value, "\";\n");
      }
      StrAppend(text, "  static constexpr bool kNamespaced = ", names.namespaced, ";\n\n");
    }
    std::string constants;
    for (const auto& [field, type] : schema.properties) StrAppend(constants, Constants(field, *type));
    if (!constants.empty()) StrAppend(text, constants, "\n");
    for (const auto& [field, type] : schema.properties) {
      if (IsOfKind(name, field)) continue;
      const std::string cpp = FieldOf(schema, field, *type, &packages).type;
      const bool scalar = cpp == "bool" || cpp == "int32_t" || cpp == "int64_t" || cpp == "double";
      StrAppend(text, "  ", cpp, " ", MemberName(field), scalar ? "{}" : "", ";");
      if (!type->description.empty()) StrAppend(text, "  // ", type->description);
      text += '\n';
    }
    StrAppend(text, "\n  json::Value raw;  // what it was read from\n",
              "  void Read(FieldReader& in);\n  void Write(FieldWriter& out) const;\n};\n");
    return text;
  }

  static std::string Constants(std::string_view field, const Schema& schema) {
    const Schema& values = schema.items != nullptr ? *schema.items : schema;
    std::string text;
    for (const json::Value& value : values.enum_values) {
      if (!value.is_string() || value.str().empty()) continue;
      StrAppend(text, "  static constexpr std::string_view ", ConstantName(field, value.str()), " = ", value.ToString(),
                ";\n");
    }
    return text;
  }

  std::string Calls(std::string_view name, std::string_view visitor) {
    const Schema& schema = *types_.at(std::string(name));
    std::string text;
    if (const auto kind = kinds_.find(name); kind != kinds_.end())
      StrAppend(text, "  ", visitor, ".OfKind(\"", kind->second->ApiVersion(), "\", kKind);\n");
    for (const auto& [field, type] : schema.properties) {
      if (IsOfKind(name, field)) continue;
      StrAppend(text, "  ", visitor, ".", FieldOf(schema, field, *type, nullptr).call, "(\"", field, "\", ",
                MemberName(field), ");\n");
    }
    return text;
  }

  std::map<std::string, SchemaPtr, std::less<>> types_;
  std::map<std::string, ResourceTypePtr, std::less<>> kinds_;  // by the name of their type
  std::map<std::string, bool, std::less<>> has_struct_;
};

// A file that is as it should be keeps its time, so that nothing is compiled again.
bool WriteFile(const std::string& path, const std::string& text) {
  std::ifstream old(path, std::ios::binary);
  const std::string there((std::istreambuf_iterator<char>(old)), std::istreambuf_iterator<char>());
  if (old.good() && there == text) return true;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out.good()) std::fprintf(stderr, "gen_types: cannot write %s\n", path.c_str());
  return out.good();
}

int Run(std::span<char* const> arguments) {
  if (arguments.size() < 3) {
    std::fprintf(stderr, "usage: gen_types DIR PACKAGE...\n");
    return 2;
  }
  std::vector<TypeText> types;
  std::vector<TypeText> docs;
  for (const TypeText& text : BuiltinTexts()) {
    if (text.name.ends_with(".types")) types.push_back(text);
    if (text.name == "docs.txt") docs.push_back(text);
  }
  const Result<TypeTable> builtin = TypeTable::Parse(types, docs);
  const Result<TypeTable> federation = TypeTable::Parse(FederationTexts());
  for (const Result<TypeTable>* table : {&builtin, &federation}) {
    if (table->ok()) continue;
    std::fprintf(stderr, "gen_types: %s\n", table->error().message().c_str());
    return 1;
  }
  Generator generator(*builtin, *federation);
  for (const std::string_view package : arguments.subspan(2)) {
    if (!generator.Knows(package)) {
      std::fprintf(stderr, "gen_types: there is no package %s\n", std::string(package).c_str());
      return 1;
    }
    const std::string path = StrCat(arguments[1], "/api/types/", ShortName(package));
    if (!WriteFile(path + ".h", generator.Header(package)) || !WriteFile(path + ".cc", generator.Source(package)))
      return 1;
  }
  return 0;
}

}  // namespace
}  // namespace baton::api

int main(int argc, char** argv) { return baton::api::Run(std::span(argv, static_cast<size_t>(argc))); }
