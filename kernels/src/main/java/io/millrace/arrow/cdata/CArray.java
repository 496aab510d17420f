// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.arrow.ArrowNode;
import io.millrace.device.HostMemory;

/** An ArrowArray struct of the C data interface, by its address. */
record CArray(long address) {
  static final int BYTES = 80;

  private static final int LENGTH = 0;
  private static final int NULL_COUNT = 8;
  private static final int OFFSET = 16;
  private static final int BUFFER_COUNT = 24;
  private static final int CHILD_COUNT = 32;
  private static final int BUFFERS = 40;
  private static final int CHILDREN = 48;
  private static final int DICTIONARY = 56;
  private static final int RELEASE = 64;

  long length() {
    return get(LENGTH);
  }

  /** -1 if not counted. */
  long nullCount() {
    return get(NULL_COUNT);
  }

  long offset() {
    return get(OFFSET);
  }

  long bufferCount() {
    return get(BUFFER_COUNT);
  }

  /** The address of the array of buffers; 0 if there is none. */
  long buffers() {
    return get(BUFFERS);
  }

  long buffer(long index) {
    return HostMemory.getLong(buffers() + index * Long.BYTES);
  }

  long childCount() {
    return get(CHILD_COUNT);
  }

  /** The address of the array of children; 0 if there is none. */
  long children() {
    return get(CHILDREN);
  }

  CArray child(long index) {
    return new CArray(HostMemory.getLong(children() + index * Long.BYTES));
  }

  boolean hasDictionary() {
    return get(DICTIONARY) != 0;
  }

  CArray dictionary() {
    return new CArray(get(DICTIONARY));
  }

  boolean isReleased() {
    return get(RELEASE) == 0;
  }

  void putNode(ArrowNode node) {
    put(LENGTH, node.length());
    put(NULL_COUNT, node.nullCount());
    put(OFFSET, node.offset());
  }

  /** The array of buffers is at {@code buffers}. */
  void putBuffers(long count, long buffers) {
    put(BUFFER_COUNT, count);
    put(BUFFERS, buffers);
  }

  /** The array of children is at {@code children}; {@code dictionary} is 0 if there is none. */
  void putChildren(long count, long children, long dictionary) {
    put(CHILD_COUNT, count);
    put(CHILDREN, children);
    put(DICTIONARY, dictionary);
  }

  void markReleased() {
    put(RELEASE, 0);
  }

  private long get(int member) {
    return HostMemory.getLong(address + member);
  }

  private void put(int member, long value) {
    HostMemory.putLong(address + member, value);
  }
}
