// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static io.millrace.arrow.ArrowContent.misfit;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowNode;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Checks the members of an ArrowArray struct before they are used. Pointers are checked as far as
 * possible without reading memory: required pointers that are 0 or cannot be addresses of a process
 * are refused; others are trusted.
 */
record CArrayCheck(CArray array, Field field) {

  /**
   * @throws ArrowFormatException if the struct is not there or released, if it has other buffers,
   *     children or dictionaries than these, or if its numbers of elements and nulls cannot be
   */
  void check(int buffers, int children, boolean hasDictionary) throws ArrowFormatException {
    if (!isStruct(array.address())) {
      throw misfit(field, "no array but the address " + array.address());
    }
    if (array.isReleased()) {
      throw misfit(field, "an array that is released");
    }
    checkCount("buffers", array.bufferCount(), buffers);
    checkCount("children", array.childCount(), children);
    checkCount("dictionaries", array.hasDictionary() ? 1 : 0, hasDictionary ? 1 : 0);
    if (buffers > 0 && !isStruct(array.buffers())) {
      throw misfit(field, "no buffers but the address " + array.buffers());
    }
    if (children > 0 && !isStruct(array.children())) {
      throw misfit(field, "no children but the address " + array.children());
    }
    for (int i = 0; i < buffers; i++) {
      if (array.buffer(i) < 0) {
        throw misfit(field, "a buffer at the address " + array.buffer(i));
      }
    }
    checkElements();
  }

  /** Whether a struct, or an array of pointers, may be at {@code address}. */
  static boolean isStruct(long address) {
    return address > 0 && address % Long.BYTES == 0;
  }

  private void checkCount(String what, long found, int expected) throws ArrowFormatException {
    if (found != expected) {
      throw misfit(field, found + " " + what + " where " + expected + " are needed");
    }
  }

  private void checkElements() throws ArrowFormatException {
    long length = array.length();
    if (length < 0 || array.offset() < 0 || array.offset() > Integer.MAX_VALUE - length) {
      throw misfit(field, length + " elements behind " + array.offset());
    }
    long nulls = array.nullCount();
    if (nulls < ArrowNode.UNKNOWN || nulls > length) {
      throw misfit(field, nulls + " nulls among " + length + " elements");
    }
    if (nulls > 0 && array.buffer(0) == 0) {
      throw misfit(field, nulls + " nulls and no mask");
    }
  }
}
