// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;
import java.util.ArrayList;
import java.util.List;

/**
 * The layout of a structure that a kernel takes by value. Fields are declared in the order and with
 * the names of the CUDA structure; offsets are computed. CUDA structures are ordered so that the
 * compiler inserts no padding, which this class checks.
 *
 * <p>Layouts are declared in static fields; they are not changed after the class that declares them
 * is initialized.
 */
@PublicEvolving
public final class KernelStructure {
  /** A field of 32 bits at a byte offset. */
  public record Int32(int offset) {}

  /** A field of 64 bits at a byte offset. */
  public record Int64(int offset) {}

  /**
   * An array of structures.
   *
   * @param offset bytes before the first element
   * @param stride bytes of an element
   * @param length number of elements
   */
  public record Array(int offset, int stride, int length) {
    /**
     * The byte offset of an element.
     *
     * @throws IndexOutOfBoundsException if {@code index} is negative or not less than the length
     */
    public int at(int index) {
      if (index < 0 || index >= length) {
        throw new IndexOutOfBoundsException("element " + index + " of " + length);
      }
      return offset + index * stride;
    }
  }

  /**
   * A declared field.
   *
   * @param name the name in CUDA
   * @param type {@code int32}, {@code int64} or the name of a structure
   * @param offset bytes before the field
   * @param bytes size of the field, of all elements of an array
   */
  public record Field(String name, String type, int offset, int bytes) {}

  private final String name;
  private final List<Field> fields = new ArrayList<>();
  private int bytes;
  private int alignment = Integer.BYTES;

  /**
   * @param name the name of the CUDA structure
   */
  public KernelStructure(String name) {
    this.name = name;
  }

  /** Declares the next field, an integer of 32 bits. */
  public Int32 int32(String field) {
    return new Int32(add(field, "int32", Integer.BYTES, Integer.BYTES));
  }

  /**
   * Declares the next field, an integer of 64 bits or an address.
   *
   * @throws IllegalStateException if the offset is not a multiple of 8
   */
  public Int64 int64(String field) {
    return new Int64(add(field, "int64", Long.BYTES, Long.BYTES));
  }

  /**
   * Declares the next field, an array of structures that are fully declared.
   *
   * @throws IllegalStateException if the offset is not a multiple of the element's alignment
   */
  public Array array(String field, KernelStructure element, int length) {
    int stride = element.bytes();
    return new Array(add(field, element.name, length * stride, element.alignment), stride, length);
  }

  private int add(String field, String type, int size, int fieldAlignment) {
    int offset = bytes;
    if (offset % fieldAlignment != 0) {
      throw new IllegalStateException(
          "the compiler pads before '" + field + "' of " + name + ", at offset " + offset);
    }
    fields.add(new Field(field, type, offset, size));
    bytes += size;
    alignment = Math.max(alignment, fieldAlignment);
    return offset;
  }

  public String name() {
    return name;
  }

  /** The fields declared so far, in order. */
  public List<Field> fields() {
    return List.copyOf(fields);
  }

  /**
   * The size of the structure.
   *
   * @throws IllegalStateException if the size is not a multiple of the alignment
   */
  public int bytes() {
    if (bytes % alignment != 0) {
      throw new IllegalStateException(
          "the compiler pads " + name + " at the end, after " + bytes + " bytes");
    }
    return bytes;
  }
}
