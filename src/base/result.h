// Result<T>: a value or an Error. The only way a function of Baton reports an expected failure; exceptions never cross
// a module's border.
//
//   Result<Config> LoadConfig(std::string_view text) {
//     json::Value document = TRY(json::ParseYaml(text));     // returns the error to our caller
//     if (!document.is_object()) return InvalidError("a config is an object");
//     return Config(document);
//   }
//
// In a coroutine use CO_TRY, which co_returns the error.
#pragma once

#include <expected>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/invariant.h"

namespace baton {

template <class T>
class Result;

namespace result_internal {
template <class T>
inline constexpr bool kIsResult = false;
template <class T>
inline constexpr bool kIsResult<Result<T>> = true;
}  // namespace result_internal

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(Error error) : rep_(std::unexpect, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  // Implicit only where U converts to T implicitly: `return 7;` makes no Result<Epoch>. Never from another Result,
  // which would become a Result<bool> by its operator bool and lose its error.
  template <class U = T>
    requires(std::is_constructible_v<T, U &&> && !result_internal::kIsResult<std::remove_cvref_t<U>> &&
             !std::is_same_v<std::remove_cvref_t<U>, Error>)
  explicit(!std::is_convertible_v<U&&, T>) Result(U&& value) : rep_(std::in_place, std::forward<U>(value)) {}

  bool ok() const { return rep_.has_value(); }
  explicit operator bool() const { return ok(); }

  // Only when ok(); anything else is a bug and ends the process with the error's text.
  T& value() & { return Checked(), *rep_; }
  const T& value() const& { return Checked(), *rep_; }
  T value() && { return Checked(), *std::move(rep_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  template <class U>
  T value_or(U&& fallback) const& {
    return ok() ? *rep_ : static_cast<T>(std::forward<U>(fallback));
  }
  template <class U>
  T value_or(U&& fallback) && {
    return ok() ? *std::move(rep_) : static_cast<T>(std::forward<U>(fallback));
  }

  // Only when !ok().
  const Error& error() const& { return NotOk(), rep_.error(); }
  Error error() && { return NotOk(), std::move(rep_).error(); }

  // The same result; an error gets "what: " in front of its message.
  Result Context(std::string_view what) && {
    if (ok()) return std::move(*this);
    return rep_.error().Context(what);
  }

 private:
  void Checked() const { INVARIANT(ok(), rep_.error().ToString()); }
  void NotOk() const { INVARIANT(!ok(), "error() of a Result that holds a value"); }

  std::expected<T, Error> rep_;
};

// Done, or an Error. `return {};` is done.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void value() const { INVARIANT(ok(), error_->ToString()); }
  void operator*() const { value(); }
  const Error& error() const& {
    INVARIANT(!ok(), "error() of a Result that holds a value");
    return *error_;
  }
  Error error() && {
    INVARIANT(!ok(), "error() of a Result that holds a value");
    return *std::move(error_);
  }
  Result Context(std::string_view what) && {
    if (ok()) return {};
    return error_->Context(what);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace baton

// The value of a Result, or return (co_return) its error from the enclosing function. GNU statement expressions; clang
// destroys temporaries inside and around them correctly, also around co_await (tested under ASan). Each use has a name
// of its own, so that they nest: TRY(Second(TRY(First()))).
#define TRY(expression) BATON_TRY_(expression, return, BATON_TRY_NAME_(__COUNTER__))
#define CO_TRY(expression) BATON_TRY_(expression, co_return, BATON_TRY_NAME_(__COUNTER__))
#define BATON_TRY_NAME_(number) BATON_TRY_JOIN_(try_result_, number)
#define BATON_TRY_JOIN_(a, b) a##b
#define BATON_TRY_(expression, leave, name)        \
  ({                                               \
    auto name = (expression);                      \
    if (!name.ok()) leave std::move(name).error(); \
    *std::move(name);                              \
  })
