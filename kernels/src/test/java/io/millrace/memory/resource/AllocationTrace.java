// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The allocations and frees that a {@link LoggingResourceAdaptor} wrote, by thread. Failed
 * allocations and allocations of 0 bytes are left out.
 */
final class AllocationTrace {
  private final Map<String, Integer> threads = new HashMap<>();
  private final Map<String, Integer> streams = new HashMap<>();
  private final Map<String, Event> lastByAddress = new HashMap<>();
  private final List<List<Event>> eventsByThread = new ArrayList<>();
  private final List<Event> allocations = new ArrayList<>();
  private int eventCount;

  /**
   * One allocation or free.
   *
   * @param position in the trace
   * @param allocation the number of the allocation that is made or freed
   * @param after the position of the event before it at the same address; -1 if it is the first
   */
  record Event(
      int position, boolean allocates, int allocation, long bytes, int stream, int after) {}

  private AllocationTrace() {}

  /**
   * Reads a trace as a whole.
   *
   * @throws IllegalArgumentException if it is not a trace, naming the line; an address that is
   *     allocated twice, or freed without being allocated, is an error too
   */
  static AllocationTrace read(Reader reader) throws IOException {
    AllocationTrace trace = new AllocationTrace();
    BufferedReader lines = new BufferedReader(reader);
    if (!LoggingResourceAdaptor.HEADER.equals(lines.readLine())) {
      throw new IllegalArgumentException(
          "line 1: a trace begins with " + LoggingResourceAdaptor.HEADER);
    }
    int number = 2;
    for (String line = lines.readLine(); line != null; line = lines.readLine(), number++) {
      try {
        trace.add(line.split(",", -1));
      } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
        throw new IllegalArgumentException("line " + number + ": " + e.getMessage(), e);
      }
    }
    return trace;
  }

  private void add(String[] values) {
    String address = values[3];
    long bytes = Long.parseLong(values[4]);
    int stream = number(streams, values[5]);
    Event last = lastByAddress.get(address);
    int after = last == null ? -1 : last.position;
    boolean held = last != null && last.allocates;
    switch (values[2]) {
      case "allocate" -> {
        if (held) {
          throw new IllegalArgumentException(address + " is allocated twice");
        }
        if (bytes > 0) {
          Event event = new Event(eventCount, true, allocations.size(), bytes, stream, after);
          allocations.add(event);
          add(values[0], address, event);
        }
      }
      case "free" -> {
        if (bytes > 0) {
          if (!held || last.bytes != bytes) {
            throw new IllegalArgumentException(bytes + " bytes are not allocated at " + address);
          }
          add(
              values[0],
              address,
              new Event(eventCount, false, last.allocation, bytes, stream, after));
        }
      }
      case "allocate failure" -> {}
      default -> throw new IllegalArgumentException("no such action: " + values[2]);
    }
  }

  private void add(String thread, String address, Event event) {
    int index = number(threads, thread);
    if (index == eventsByThread.size()) {
      eventsByThread.add(new ArrayList<>());
    }
    eventsByThread.get(index).add(event);
    lastByAddress.put(address, event);
    eventCount++;
  }

  private static int number(Map<String, Integer> numbers, String name) {
    Integer next = numbers.size();
    Integer known = numbers.putIfAbsent(name, next);
    return known == null ? next : known;
  }

  /** The events of each thread, in their order. */
  List<List<Event>> eventsByThread() {
    return eventsByThread;
  }

  /** The allocations of all threads, by their number. */
  List<Event> allocations() {
    return allocations;
  }

  int streamCount() {
    return streams.size();
  }

  int eventCount() {
    return eventCount;
  }
}
