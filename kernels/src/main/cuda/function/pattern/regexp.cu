// SPDX-License-Identifier: Apache-2.0
// Regular expressions as automata over bytes, which io.millrace.regexp.Dfa makes of the
// patterns of a subset of java.util.regex and describes: the constant is its table.

#include "pattern.cuh"

using namespace millrace;

namespace {

constexpr int32_t MATCH = 1;
constexpr int32_t MATCH_BEFORE_FINAL_TERMINATOR = 2;
constexpr int32_t MATCH_AT_END = 4;

constexpr int32_t CLASSES = 8;
constexpr int32_t STATES = CLASSES + 256;

struct Automaton {
  const uint8_t* classes;
  const uint8_t* flags;
  const uint8_t* truncated;
  const uint8_t* next;
  int32_t class_count;
  int32_t state_count;
  int32_t start_at_begin;
  int32_t start;
  int32_t first_flagged;

  __device__ explicit Automaton(const char* constant) {
    const uint8_t* table = reinterpret_cast<const uint8_t*>(constant);
    state_count = table[4];
    class_count = table[0] + 1;
    start_at_begin = table[1];
    start = table[2];
    first_flagged = table[3];
    classes = table + CLASSES;
    flags = table + STATES;
    truncated = flags + state_count;
    next = truncated + state_count;
  }

  __device__ int32_t transition(int32_t state, char byte) const {
    return state * class_count + classes[static_cast<uint8_t>(byte)];
  }

  __device__ int32_t step(int32_t state, char byte) const {
    return next[transition(state, byte)];
  }
};

// Where `$` matches: at the end and before a line terminator that ends the string.
__device__ inline bool is_before_final_terminator(const char* bytes, int32_t length, int32_t at) {
  if (at == length) {
    return true;
  }
  if (bytes[at] == '\r' && at + 2 == length) {
    return bytes[at + 1] == '\n';
  }
  int32_t size = line_terminator_bytes(bytes, length, at);
  bool ends = size > 0 && at + size == length;
  return ends && !(bytes[at] == '\n' && at > 0 && bytes[at - 1] == '\r');
}

__device__ inline bool accepts(int32_t flags, const char* bytes, int32_t length, int32_t at) {
  return flags & MATCH || (flags & MATCH_AT_END && at == length) ||
         (flags & MATCH_BEFORE_FINAL_TERMINATOR && is_before_final_terminator(bytes, length, at));
}

// The end of the match that starts at `start`, by the alternatives' priority; -1 if there is none.
__device__ inline int32_t match_end(
    const Automaton& automaton, const char* bytes, int32_t length, int32_t start) {
  int32_t state = start == 0 ? automaton.start_at_begin : automaton.start;
  int32_t end = -1;
  for (int32_t at = start; state != 0; at++) {
    if (state >= automaton.first_flagged) {
      int32_t flags = automaton.flags[state];
      if (flags & MATCH || (flags & MATCH_AT_END && at == length)) {
        end = at;
      }
      if (flags & MATCH_BEFORE_FINAL_TERMINATOR && is_before_final_terminator(bytes, length, at)) {
        end = at;
        state = automaton.truncated[state];
      }
    }
    if (at == length) {
      break;
    }
    state = automaton.step(state, bytes[at]);
  }
  return end;
}

struct Range {
  int32_t start;
  int32_t end;
};

// The first match that starts at `from` or later; its end is -1 if there is none.
__device__ inline Range find_match(
    const Automaton& automaton, const char* bytes, int32_t length, int32_t from) {
  for (int32_t start = from; start <= length; start++) {
    if (start < length && is_continuation(bytes[start])) {
      continue;
    }
    int32_t end = match_end(automaton, bytes, length, start);
    if (end >= 0) {
      return {start, end};
    }
  }
  return {length, -1};
}

constexpr int32_t CLOSE_BEFORE = 1;
constexpr int32_t OPEN = 2;
constexpr int32_t CLOSE_AFTER = 4;

__device__ inline Range closed(Range group, int32_t action, int32_t opened, int32_t at) {
  return action & CLOSE_AFTER ? Range{at, at} : action & CLOSE_BEFORE ? Range{opened, at} : group;
}

// Whether there is a match that starts at `start`, and its group, which may have taken no part.
__device__ inline bool match_group(
    const Automaton& automaton, const char* bytes, int32_t length, int32_t start, Range& matched) {
  const uint8_t* accept_actions = automaton.truncated;
  const uint8_t* actions = automaton.next + automaton.state_count * automaton.class_count;
  int32_t state = start == 0 ? automaton.start_at_begin : automaton.start;
  int32_t opened = -1;
  Range group{-1, -1};
  bool has_match = false;
  for (int32_t at = start; state != 0; at++) {
    if (accepts(automaton.flags[state], bytes, length, at)) {
      matched = closed(group, accept_actions[state], opened, at);
      has_match = true;
    }
    if (at == length) {
      break;
    }
    int32_t transition = automaton.transition(state, bytes[at]);
    int32_t action = actions[transition];
    group = closed(group, action, opened, at);
    opened = action & OPEN ? at : opened;
    state = automaton.next[transition];
  }
  return has_match;
}

}  // namespace

// Whether the automaton, which finds from any place, comes to a match.
MILLRACE_FUNCTION int32_t regexp(const char* bytes, int32_t length, const char* constant) {
  Automaton automaton(constant);
  int32_t state = automaton.start_at_begin;
  for (int32_t at = 0; state != 0; at++) {
    if (state >= automaton.first_flagged && accepts(automaton.flags[state], bytes, length, at)) {
      return 1;
    }
    if (at == length) {
      break;
    }
    state = automaton.step(state, bytes[at]);
  }
  return 0;
}

// Whether the automaton, which starts at the first byte, matches the whole string.
MILLRACE_FUNCTION int32_t similar_to(const char* bytes, int32_t length, const char* constant) {
  Automaton automaton(constant);
  int32_t state = automaton.start_at_begin;
  for (int32_t at = 0; at < length && state != 0; at++) {
    state = automaton.step(state, bytes[at]);
  }
  return automaton.flags[state] != 0;
}

MILLRACE_FUNCTION Outcome<String> regexp_extract(
    const char* bytes, int32_t length, const char* constant) {
  Range match = find_match(Automaton(constant), bytes, length, 0);
  return match.end < 0 ? none<String>(NULL_VALUE)
                       : value(String{bytes + match.start, match.end - match.start});
}

// What the first match's group is, for patterns where each byte leaves one way only on from each state: where the
// automaton of regexp has the states without what comes after a match, this one has what is done with the group
// before a match, and behind all, by state and class, what is done before a byte is taken.
MILLRACE_FUNCTION Outcome<String> regexp_extract_group(
    const char* bytes, int32_t length, const char* constant) {
  Automaton automaton(constant);
  for (int32_t start = 0; start <= length; start++) {
    if (start < length && is_continuation(bytes[start])) {
      continue;
    }
    Range group{-1, -1};
    if (match_group(automaton, bytes, length, start, group)) {
      return group.start < 0 ? none<String>(NULL_VALUE)
                             : value(String{bytes + group.start, group.end - group.start});
    }
  }
  return none<String>(NULL_VALUE);
}

// Counts as Java does, in UTF-16 units and from one.
MILLRACE_FUNCTION int32_t regexp_instr(const char* bytes, int32_t length, const char* constant) {
  Range match = find_match(Automaton(constant), bytes, length, 0);
  if (match.end < 0) {
    return 0;
  }
  int32_t position = 1;
  for (int32_t i = 0; i < match.start; i++) {
    if (!is_continuation(bytes[i])) {
      position += code_point_width(bytes + i, match.start - i) == 4 ? 2 : 1;
    }
  }
  return position;
}

// The matches are not empty.
MILLRACE_FUNCTION int32_t regexp_count(const char* bytes, int32_t length, const char* constant) {
  Automaton automaton(constant);
  int32_t count = 0;
  Range match = find_match(automaton, bytes, length, 0);
  while (match.end >= 0) {
    count++;
    match = find_match(automaton, bytes, length, match.end);
  }
  return count;
}

// The matches are not empty. The constant is the length of the replacement, the replacement, and the automaton.
MILLRACE_FUNCTION String regexp_replace(
    char* scratch, const char* bytes, int32_t length, const char* constant) {
  int32_t replacement_length = read_length(constant);
  const char* replacement = constant + 4;
  Automaton automaton(replacement + replacement_length);
  int32_t written = 0;
  int32_t copied = 0;
  while (copied < length) {
    Range match = find_match(automaton, bytes, length, copied);
    for (; copied < match.start; copied++) {
      scratch[written++] = bytes[copied];
    }
    if (match.end < 0) {
      break;
    }
    for (int32_t i = 0; i < replacement_length; i++) {
      scratch[written++] = replacement[i];
    }
    copied = match.end;
  }
  return {scratch, written};
}
