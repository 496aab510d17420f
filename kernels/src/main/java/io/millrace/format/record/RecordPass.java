// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.column.Column;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.format.record.RecordKernels.Records;
import io.millrace.format.record.RecordKernels.Strings;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import java.util.List;

/**
 * The values of some records, or of the elements of a field's lists in them, which are read by a
 * pass of their own: the list is skipped with its record, and its elements are then texts as
 * records are. Used by one thread; closed once, within the scope that it was made with.
 */
final class RecordPass implements AutoCloseable {
  private final RecordLevel level;
  private final RecordTexts texts;
  private final AccessScope scope;
  private final RecordColumns columns;
  private final int[] nullCounts;
  // By field; null where a field has no elements that are read.
  private final RecordPass[] elements;
  private boolean hasUndecided;
  private List<Strings> strings = List.of();
  // Of a pass over no texts null, as is what follows.
  private Buffer scratch;
  private StagingBuffer result;
  private Records records;
  // Positions of the elements that this pass reads; null for records.
  private Buffer positions;
  // For each record whether it fulfils the condition; null if there is none.
  private Column kept;

  /**
   * Reads the texts; waits for the stream. If this throws, nothing is held.
   *
   * @param scope on the stream of the level
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  RecordPass(RecordLevel level, RecordTexts texts, AccessScope scope) {
    this(level, texts, null, scope);
  }

  /**
   * As the other constructor, for records of which only those are kept that fulfil a condition: the
   * others have empty strings.
   *
   * @param condition null to keep all records
   */
  RecordPass(RecordLevel level, RecordTexts texts, RecordCondition condition, AccessScope scope) {
    this.level = level;
    this.texts = texts;
    this.scope = scope;
    this.nullCounts = new int[level.fields().size()];
    this.elements = new RecordPass[nullCounts.length];
    this.columns = new RecordColumns(level.fields(), texts.count(), level.stream(), level.memory());
    try {
      if (texts.count() == 0) {
        columns.clearOffsets(scope);
      } else {
        parse(condition);
      }
      for (int i = 0; i < elements.length; i++) {
        if (level.elements(i) != null) {
          elements[i] = readElements(i);
        }
      }
      if (records != null && level.fields().strings() > 0) {
        // None if the fields with offsets are lists.
        strings = columns.allocateStrings(records, scope);
        if (!strings.isEmpty()) {
          level.kernels().copyStrings(records, strings);
        }
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void parse(RecordCondition condition) {
    RecordFields fields = level.fields();
    RecordKernels kernels = level.kernels();
    long wordBytes = (long) texts.count() * Long.BYTES;
    long scratchBytes = kernels.scratchBytes(fields, texts.count());
    long plan = level.plan().access(AccessMode.READ, scope);
    scratch = Buffer.allocate(wordBytes + scratchBytes, level.stream(), level.memory());
    result = level.stream().device().stagingPool().acquire(RecordKernels.resultBytes(fields));
    long errors = scratch.access(AccessMode.WRITE, scope);
    records =
        new Records(
            level.format(),
            fields,
            plan + RecordLevel.powersBytes(),
            plan,
            texts.bytes(),
            texts.starts(),
            texts.ends(),
            texts.others(),
            texts.otherEnds(),
            texts.programs(),
            texts.kept(),
            texts.count(),
            columns.targets(scope),
            errors,
            errors + wordBytes,
            result.address(),
            level.stream());
    kernels.parse(records);
    if (condition != null) {
      kept = condition.evaluate(columns, level.stream(), level.memory());
      records = records.withKept(kept.dataAddress(scope));
    }
    kernels.sumLengths(records);
    for (int i = 0; i < nullCounts.length; i++) {
      nullCounts[i] = HostMemory.getInt(records.nullCount(i));
    }
    hasUndecided = HostMemory.getInt(records.undecided()) > 0;
  }

  private RecordPass readElements(int field) {
    int count = elementCount(field);
    if (count == 0) {
      return new RecordPass(level.elements(field), RecordTexts.NONE, scope);
    }
    Buffer found = allocateElements(field);
    try {
      RecordTexts inside = findElements(field, found);
      RecordPass pass = new RecordPass(level.elements(field), inside, scope);
      pass.positions = found;
      return pass;
    } catch (RuntimeException | Error e) {
      found.close();
      throw e;
    }
  }

  /** The number of all elements of a field's lists. */
  int elementCount(int field) {
    int string = level.fields().get(field).string();
    return records == null ? 0 : (int) HostMemory.getLong(records.stringBytes(string));
  }

  /** Room for {@link #findElements}; the caller's. */
  Buffer allocateElements(int field) {
    int numbers = level.format().hasPrograms() ? 3 : 2;
    long bytes =
        ((long) numbers * Integer.BYTES + (records.kept() == 0 ? 0 : 1)) * elementCount(field);
    return Buffer.allocate(bytes, level.stream(), level.memory());
  }

  /** Finds the elements of a field's lists, of which there is one or more. Enqueued. */
  RecordTexts findElements(int field, Buffer found) {
    int count = elementCount(field);
    long starts = found.access(AccessMode.WRITE, scope);
    long ends = starts + (long) count * Integer.BYTES;
    long next = ends + (long) count * Integer.BYTES;
    long programs = level.format().hasPrograms() ? next : 0;
    next += programs == 0 ? 0 : (long) count * Integer.BYTES;
    long keptElements = records.kept() == 0 ? 0 : next;
    level.kernels().findElements(records, field, starts, ends, programs, keptElements);
    return new RecordTexts(texts.bytes(), starts, ends, 0, 0, programs, keptElements, count);
  }

  /** The strings of a field, which are being copied; there is one text or more. */
  Strings strings(int field) {
    RecordField of = level.fields().get(field);
    return strings.stream().filter(column -> column.field().equals(of)).findFirst().orElseThrow();
  }

  /** What the kernels were given; null if there were no texts. */
  Records records() {
    return records;
  }

  /** The pass over the elements of a field's lists; null if none are read. */
  RecordPass elements(int field) {
    return elements[field];
  }

  /** The values that were read so far, of a pass that was not taken. */
  RecordColumns columns() {
    return columns;
  }

  /** For each record whether it fulfilled the condition; null without one, or without records. */
  Column kept() {
    return kept;
  }

  /** Whether there are floating-point numbers that the host still has to round. */
  boolean hasUndecided() {
    return hasUndecided;
  }

  /** Whether each text, and each element in it, is read to its end. */
  boolean isComplete() {
    boolean complete = nullCounts[0] == 0 && !hasUndecided;
    for (RecordPass pass : elements) {
      complete &= pass == null || pass.isComplete();
    }
    return complete;
  }

  /** The columns, which take the memory over. */
  Table take(Schema schema) {
    takeElements();
    return columns.take(schema, nullCounts);
  }

  private void takeElements() {
    for (int i = 0; i < elements.length; i++) {
      if (elements[i] != null) {
        elements[i].takeElements();
        columns.putElements(i, elements[i].columns.takeColumn(0, elements[i].nullCounts));
      }
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    for (RecordPass pass : elements) {
      if (pass != null) {
        failure.run(pass::close);
      }
    }
    failure.run(columns::close);
    if (scratch != null) {
      failure.run(scratch::close);
    }
    if (result != null) {
      failure.run(result::close);
    }
    if (positions != null) {
      failure.run(positions::close);
    }
    if (kept != null) {
      failure.run(kept::close);
    }
    failure.rethrow();
  }
}
