// The envelope around an object: runtime.Unknown of apimachinery.
#include "api/protobuf.h"

#include <cstdint>
#include <utility>

#include "api/protobuf_message.h"
#include "api/protobuf_table.h"
#include "api/protobuf_wire.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "json/builder.h"

namespace baton::api {
namespace {

using protobuf::Record;
using protobuf::Where;
using protobuf::WireError;
using protobuf::WireReader;
using protobuf::WireType;

constexpr std::string_view kMagic("k8s\0", 4);
constexpr std::string_view kContentType = "application/vnd.kubernetes.protobuf";

// Fields of runtime.Unknown and of runtime.TypeMeta.
constexpr uint32_t kTypeMeta = 1;
constexpr uint32_t kRaw = 2;
constexpr uint32_t kContentEncodingField = 3;
constexpr uint32_t kContentTypeField = 4;
constexpr uint32_t kApiVersion = 1;
constexpr uint32_t kKind = 2;

struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;
  std::string_view content_encoding;
  std::string_view content_type;
};

// Where the bytes of a known field of the envelope go; null for the others. All known ones are text or bytes.
std::string_view* Place(Envelope& envelope, uint32_t number, bool in_type_meta) {
  if (in_type_meta) {
    return number == kApiVersion ? &envelope.api_version : number == kKind ? &envelope.kind : nullptr;
  }
  switch (number) {
    case kRaw:
      return &envelope.raw;
    case kContentEncodingField:
      return &envelope.content_encoding;
    case kContentTypeField:
      return &envelope.content_type;
    default:
      return nullptr;
  }
}

Result<void> ReadEnvelope(std::string_view bytes, const Where& where, bool in_type_meta, Envelope& out) {
  WireReader reader(bytes, where);
  while (!reader.AtEnd()) {
    const Record record = TRY(reader.Next());
    const bool inner = !in_type_meta && record.number == kTypeMeta;
    std::string_view* const place = Place(out, record.number, in_type_meta);
    if (!inner && place == nullptr) continue;
    if (record.type != WireType::kBytes) return WireError(where, record.at, "bytes were expected");
    if (place != nullptr) *place = record.bytes;
    if (inner) TRY(ReadEnvelope(record.bytes, where, true, out));
  }
  return {};
}

}  // namespace

bool IsProtobuf(std::string_view body) { return body.starts_with(kMagic); }

Result<json::Value> DecodeProtobuf(std::string_view body) {
  const Where where{.body = body.data(), .message = "runtime.Unknown"};
  if (!IsProtobuf(body)) return WireError(where, body.data(), "the magic bytes \"k8s\\x00\" were expected");
  if (body.size() > kProtobufBytesMax) {
    return TooLargeError(StrCat("protobuf: ", body.size(), " bytes, and at most ", kProtobufBytesMax, " are read"));
  }
  Envelope envelope;
  TRY(ReadEnvelope(body.substr(kMagic.size()), where, false, envelope));
  if (!envelope.content_encoding.empty()) {
    return WireError(where, envelope.content_encoding.data(),
                     StrCat("the content encoding ", Quote(envelope.content_encoding), " is not known"));
  }
  if (!envelope.content_type.empty() && envelope.content_type != kContentType) {
    return WireError(where, envelope.content_type.data(),
                     StrCat("the content type ", Quote(envelope.content_type), " is not ", kContentType));
  }
  const protobuf::Message* const message = protobuf::MessageOf(envelope.api_version, envelope.kind);
  if (message == nullptr) {
    return InvalidError(StrCat("protobuf: no kind ", Quote(envelope.kind), " of version ", Quote(envelope.api_version),
                               " is known in this encoding: send it as JSON"));
  }
  // The options are of any version, so this text is the sender's own.
  if (!IsUtf8(envelope.api_version)) return WireError(where, envelope.api_version.data(), "the text is not UTF-8");
  json::ObjectBuilder members;
  TRY(protobuf::AddMessageFields(body, *message, envelope.raw, members));
  members.Add("apiVersion", envelope.api_version);
  members.Add("kind", envelope.kind);
  return std::move(members).Build();
}

}  // namespace baton::api
