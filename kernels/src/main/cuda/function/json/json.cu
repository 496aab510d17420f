// SPDX-License-Identifier: Apache-2.0
// Functions of JSON texts with the results of Flink 2.3, which reads them with Jackson.
//
// The constant of a function with a path begins with four bytes: whether the path is lax, what to do if there is
// nothing and if there is an error, and the number of steps.

#include "json_writer.cuh"

using namespace millrace;

namespace {

// Java repeats the numbers.
enum Behavior : int32_t { GIVE_NULL, FAIL, GIVE_DEFAULT };
enum JsonKind : int32_t { ANY_VALUE, OBJECT, ARRAY, SCALAR };
enum QueryBehavior : int32_t { QUERY_NULL, QUERY_FAILS, QUERY_EMPTY_ARRAY, QUERY_EMPTY_OBJECT };
enum Wrapper : int32_t { WITHOUT_WRAPPER, CONDITIONAL_WRAPPER, UNCONDITIONAL_WRAPPER };
enum ExistsOnError : int32_t { EXISTS_FALSE, EXISTS_TRUE, EXISTS_UNKNOWN, EXISTS_FAILS };

__device__ inline bool is_container(int32_t byte) {
  return byte == '{' || byte == '[';
}

// Goes to the scalar to which the path leads.
__device__ inline JsonOutcome find_scalar(JsonSearch& search, const char* constant) {
  const JsonOutcome outcome = find(search, constant);
  return outcome == JSON_VALUE && is_container(search.json.text.peek()) ? nothing(constant) : outcome;
}

// The result where there is no value.
template <typename Value>
__device__ inline Outcome<Value> without_value(
    JsonOutcome outcome, const char* constant, Value on_empty, Value on_error) {
  if (outcome == JSON_UNDECIDED) return none<Value>(NEEDS_HOST);
  const int32_t behavior = constant[outcome == JSON_EMPTY ? 1 : 2];
  if (behavior == GIVE_DEFAULT) return value(outcome == JSON_EMPTY ? on_empty : on_error);
  return none<Value>(behavior == FAIL ? INVALID_ARGUMENT : NULL_VALUE);
}

__device__ inline String part(const JsonSearch& search, int32_t start, int32_t end) {
  return {reinterpret_cast<const char*>(search.json.text.words) + start, end - start};
}

__device__ inline bool is_number(int32_t byte) {
  return millrace::is_digit(byte) || byte == '-';
}

__device__ inline bool is_wrapped(int32_t wrapper, int32_t byte) {
  return wrapper == UNCONDITIONAL_WRAPPER || (wrapper == CONDITIONAL_WRAPPER && byte != '[');
}

// The result of JSON_QUERY where there is neither an object nor an array.
__device__ inline Outcome<String> without_container(JsonOutcome outcome, const char* constant, char* scratch) {
  if (outcome == JSON_UNDECIDED) return none<String>(NEEDS_HOST);
  const int32_t behavior = outcome == JSON_EMPTY ? constant[1] & 3 : constant[2];
  if (behavior == QUERY_NULL) return none<String>(NULL_VALUE);
  if (behavior == QUERY_FAILS) return none<String>(INVALID_ARGUMENT);
  scratch[0] = behavior == QUERY_EMPTY_ARRAY ? '[' : '{';
  scratch[1] = behavior == QUERY_EMPTY_ARRAY ? ']' : '}';
  return value(String{scratch, 2});
}

// Integers below 2^53 and powers of ten up to 10^22 are exact, so that one rounding remains.
__device__ inline Outcome<double> double_of(const NumberText& number) {
  if (number.is_integer) return none<double>(INVALID_CAST);
  if (number.has_more_digits || number.significant > uint64_t{1} << 53) return none<double>(NEEDS_HOST);
  if (number.significant == 0) return value(0.0);
  if (number.exponent < -22 || number.exponent > 22) return none<double>(NEEDS_HOST);
  double power = 1;
  for (int32_t i = abs(number.exponent); i > 0; --i) power *= 10;
  const double digits = static_cast<double>(number.significant);
  const double magnitude = number.exponent < 0 ? digits / power : digits * power;
  return value(number.is_negative ? -magnitude : magnitude);
}

// Without the last byte, which is a comma.
__device__ inline String enclose(char* scratch, char opening, const char* bytes, int32_t length, char closing) {
  JsonWriter writer = {scratch, 0};
  writer.append(opening);
  if (length > 0) writer.append(bytes, length - 1);
  writer.append(closing);
  return {scratch, writer.length};
}

}  // namespace

// Whether a text begins with a value of a kind.
MILLRACE_FUNCTION Outcome<int32_t> is_json(const char* bytes, int32_t length, const char* constant) {
  const JsonSearch search = read_text(search_in(bytes, length));
  if (search.is_undecided) return none<int32_t>(NEEDS_HOST);
  switch (constant[0]) {
    case OBJECT: return value<int32_t>(search.is_json && search.root == '{');
    case ARRAY: return value<int32_t>(search.is_json && search.root == '[');
    case SCALAR: return value<int32_t>(search.is_json && !is_container(search.root));
    default: return value<int32_t>(search.is_json);
  }
}

MILLRACE_FUNCTION Outcome<int32_t> json_exists(const char* bytes, int32_t length, const char* constant) {
  JsonSearch search = search_in(bytes, length, constant);
  const JsonOutcome outcome = find(search, constant);
  if (outcome == JSON_UNDECIDED) return none<int32_t>(NEEDS_HOST);
  if (outcome != JSON_ERROR) return value<int32_t>(outcome == JSON_VALUE);
  switch (constant[2]) {
    case EXISTS_UNKNOWN: return none<int32_t>(NULL_VALUE);
    case EXISTS_FAILS: return none<int32_t>(INVALID_ARGUMENT);
    default: return value<int32_t>(constant[2] == EXISTS_TRUE);
  }
}

MILLRACE_FUNCTION Outcome<String> json_value_string(
    char* scratch, const char* bytes, int32_t length, const char* empty, int32_t empty_length, const char* error,
    int32_t error_length, const char* constant) {
  JsonSearch search = search_in(bytes, length, constant);
  const JsonOutcome outcome = find_scalar(search, constant);
  if (outcome != JSON_VALUE) {
    return without_value(outcome, constant, String{empty, empty_length}, String{error, error_length});
  }
  const int32_t byte = search.json.text.peek();
  if (is_number(byte)) return number_text(search.json.text);
  if (byte != '"') return value(part(search, search.start, search.end));
  ++search.json.text.at;
  JsonString string;
  read_string(search.json, string);
  if (!string.has_escapes) return value(part(search, string.start, string.start + string.bytes));
  search.json.text.at = string.start;
  resolve_escapes(search.json.text, string.bytes, scratch);
  return value(String{scratch, string.bytes});
}

MILLRACE_FUNCTION Outcome<int32_t> json_value_boolean(
    const char* bytes, int32_t length, int32_t empty, int32_t error, const char* constant) {
  JsonSearch search = search_in(bytes, length, constant);
  const JsonOutcome outcome = find_scalar(search, constant);
  if (outcome != JSON_VALUE) return without_value(outcome, constant, empty, error);
  const int32_t byte = search.json.text.peek();
  return byte == 't' || byte == 'f' ? value<int32_t>(byte == 't') : none<int32_t>(INVALID_CAST);
}

MILLRACE_FUNCTION Outcome<int32_t> json_value_int(
    const char* bytes, int32_t length, int32_t empty, int32_t error, const char* constant) {
  JsonSearch search = search_in(bytes, length, constant);
  const JsonOutcome outcome = find_scalar(search, constant);
  if (outcome != JSON_VALUE) return without_value(outcome, constant, empty, error);
  NumberText number;
  int64_t integer;
  const bool is_integer = is_number(search.json.text.peek()) && read_number(search.json.text, true, number) &&
                          number.is_integer && integer_of(number, sizeof(int32_t), integer);
  return is_integer ? value(static_cast<int32_t>(integer)) : none<int32_t>(INVALID_CAST);
}

MILLRACE_FUNCTION Outcome<double> json_value_double(const char* bytes, int32_t length, const char* constant) {
  JsonSearch search = search_in(bytes, length, constant);
  const JsonOutcome outcome = find_scalar(search, constant);
  if (outcome != JSON_VALUE) return without_value(outcome, constant, 0.0, 0.0);
  NumberText number;
  const bool is_json_number = is_number(search.json.text.peek()) && read_number(search.json.text, true, number);
  return is_json_number ? double_of(number) : none<double>(INVALID_CAST);
}

// The constant has the wrapper above the four lowest bits of what to do if there is nothing.
MILLRACE_FUNCTION Outcome<String> json_query(char* scratch, const char* bytes, int32_t length, const char* constant) {
  JsonSearch search = search_in(bytes, length, constant);
  const JsonOutcome outcome = find(search, constant);
  if (outcome != JSON_VALUE) return without_container(outcome, constant, scratch);
  const int32_t byte = search.json.text.peek();
  const bool has_wrapper = is_wrapped(constant[1] >> 4, byte);
  if (!has_wrapper && !is_container(byte)) return without_container(nothing(constant), constant, scratch);
  JsonWriter writer = {scratch, 0};
  if (has_wrapper) writer.append('[');
  if (!write_value(search.json, writer)) return none<String>(NEEDS_HOST);
  if (has_wrapper) writer.append(']');
  return value(String{scratch, writer.length});
}

// A string as JSON.
MILLRACE_FUNCTION Outcome<String> json_string(char* scratch, const char* bytes, int32_t length) {
  JsonWriter writer = {scratch, 0};
  writer.append('"');
  int32_t width;
  for (int32_t i = 0; i < length; i += width) {
    width = well_formed_width(bytes + i, length - i);
    if (width == 0) return none<String>(NEEDS_HOST);
    if (width == 1) {
      write_character(writer, bytes[i]);
    } else {
      for (int32_t k = 0; k < width; ++k) writer.append(bytes[i + k]);
    }
  }
  writer.append('"');
  return value(String{scratch, writer.length});
}

// The members of an object, each with a comma behind it, between braces.
MILLRACE_FUNCTION String json_object(char* scratch, const char* bytes, int32_t length) {
  return enclose(scratch, '{', bytes, length, '}');
}

MILLRACE_FUNCTION String json_array(char* scratch, const char* bytes, int32_t length) {
  return enclose(scratch, '[', bytes, length, ']');
}
