// SPDX-License-Identifier: Apache-2.0
// Strings filled up and repeated.

#pragma once

#include "string_edit.cuh"

namespace millrace {

// What both paddings need: the text as far as it counts, and how many units are missing.
struct Padding {
  String text;
  int32_t missing;
  Status status;
};

// Null for a negative length and for nothing to fill with.
__device__ inline Padding padding(String text, int32_t units, String filling) {
  if (units < 0 || filling.length <= 0) {
    return {text, 0, NULL_VALUE};
  }
  if (!has_narrow_code_points(text) || !has_narrow_code_points(filling)) {
    return {text, 0, NEEDS_HOST};
  }
  const CodePoints kept = first_code_points(text.bytes, text.length, units);
  return {{text.bytes, kept.bytes}, units - kept.count, VALUE};
}

// Appends `units` code points of the filling, from its start again where it ends.
__device__ inline void fill(Writer& writer, String filling, int32_t units) {
  while (units > 0) {
    const CodePoints part = first_code_points(filling.bytes, filling.length, units);
    writer.append(filling.bytes, part.bytes);
    units -= part.count;
  }
}

}  // namespace millrace

// The text cut or filled up at the left to `units` UTF-16 units.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> lpad(
    char* scratch, const char* bytes, int32_t length, int32_t units, const char* filling, int32_t filling_length) {
  using namespace millrace;
  const Padding padded = padding({bytes, length}, units, {filling, filling_length});
  if (padded.status != VALUE || padded.missing == 0) {
    return {padded.text, padded.status};
  }
  Writer writer = {scratch, 0};
  fill(writer, {filling, filling_length}, padded.missing);
  writer.append(padded.text);
  return value(writer.written());
}

// The text cut or filled up at the right to `units` UTF-16 units.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> rpad(
    char* scratch, const char* bytes, int32_t length, int32_t units, const char* filling, int32_t filling_length) {
  using namespace millrace;
  const Padding padded = padding({bytes, length}, units, {filling, filling_length});
  if (padded.status != VALUE || padded.missing == 0) {
    return {padded.text, padded.status};
  }
  Writer writer = {scratch, 0};
  writer.append(padded.text);
  fill(writer, {filling, filling_length}, padded.missing);
  return value(writer.written());
}

// The text `count` times; empty for a negative count.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> repeat(
    char* scratch, const char* bytes, int32_t length, int32_t count) {
  using namespace millrace;
  if (count <= 0 || length <= 0) {
    return value(String{bytes, 0});
  }
  if (!is_well_formed({bytes, length})) {
    return none<String>(NEEDS_HOST);
  }
  Writer writer = {scratch, 0};
  for (int32_t i = 0; i < count; ++i) {
    writer.append(bytes, length);
  }
  return value(writer.written());
}
