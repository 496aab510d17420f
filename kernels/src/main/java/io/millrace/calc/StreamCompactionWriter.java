// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.calc.CalcProgram.Word;
import io.millrace.column.DataType;
import io.millrace.expression.ptx.PtxCall;
import io.millrace.expression.ptx.PtxPredicates;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import java.util.List;

/**
 * Writes the frame of a generated kernel: the assignment of rows to threads, the output positions
 * of selected rows, and the row count. All threads of a block execute this code together.
 */
final class StreamCompactionWriter {
  private static final int WARP = 32;
  private static final int LAST_LANE = WARP - 1;
  private static final String ALL_LANES = "0xffffffff";

  private final PtxWriter ptx;
  private final PtxCall calls;
  private final CalcArguments arguments;
  private final PtxPredicates predicates;
  private final int rowsPerIteration;
  private final boolean mayDiverge;
  private final String rows;
  private final String tile;
  private final String lane;
  private final String firstRow;
  private final String row;
  private final String writesTotals;
  private String outputRows;
  private int sums;

  /**
   * Writes the beginning of the kernel.
   *
   * @param sums number of look-back sums; 0 if the position of each row is its number
   * @param mayDiverge whether lanes of a warp may run ahead of others behind the code of their rows
   */
  StreamCompactionWriter(
      PtxWriter ptx,
      PtxCall calls,
      CalcArguments arguments,
      int sums,
      int rowsOfIteration,
      boolean mayDiverge) {
    this.ptx = ptx;
    this.calls = calls;
    this.arguments = arguments;
    this.predicates = new PtxPredicates(ptx);
    this.rowsPerIteration = rowsOfIteration;
    this.mayDiverge = mayDiverge;
    this.rows = writeRows();
    this.outputRows = rows;
    this.tile = sums > 0 ? writeTile() : special("%ctaid.x");
    String thread = special("%tid.x");
    this.lane = binary("and.b32", thread, String.valueOf(LAST_LANE));
    String warp = binary("shr.u32", thread, "5");
    this.firstRow = ptx.register(".b32");
    this.row = ptx.register(".b32");
    String rowsOfWarp = ptx.register(".b32");
    ptx.write("cvt.u32.u64 %s, %s", rowsOfWarp, arguments.word(Word.ITERATIONS));
    ptx.write("mul.lo.s32 %s, %s, %d", rowsOfWarp, rowsOfWarp, WARP * rowsOfIteration);
    ptx.write("mad.lo.s32 %s, %s, %d, %s", firstRow, tile, CalcProgram.WARPS, warp);
    ptx.write("mul.lo.s32 %s, %s, %s", firstRow, firstRow, rowsOfWarp);
    ptx.write("add.s32 %s, %s, %s", firstRow, firstRow, lane);
    ptx.write("mov.b32 %s, %s", row, firstRow);
    this.writesTotals = sums > 0 ? writeIsLast(thread) : null;
  }

  private String writeRows() {
    String count = ptx.register(".b32");
    String isDeferred = ptx.register(".pred");
    ptx.write("cvt.u32.u64 %s, %s", count, arguments.word(Word.ROWS));
    ptx.write("setp.ne.u64 %s, %s, 0", isDeferred, arguments.word(Word.DEVICE_ROWS));
    ptx.write("@%s ld.global.b32 %s, [%s]", isDeferred, count, arguments.word(Word.DEVICE_ROWS));
    return count;
  }

  private String writeTile() {
    PtxValue number = calls.declare(DataType.INT32);
    calls.call("calc_tile", List.of(".b64"), List.of(arguments.word(Word.TILE_COUNTER)), number);
    return number.register();
  }

  // The thread that knows all sums is the last one of the last block.
  private String writeIsLast(String thread) {
    String last = special("%nctaid.x");
    ptx.write("sub.s32 %s, %s, 1", last, last);
    String isLastTile = ptx.register(".pred");
    ptx.write("setp.eq.s32 %s, %s, %s", isLastTile, tile, last);
    return predicates.and(isLastTile, predicates.compare("eq", thread, CalcProgram.THREADS - 1));
  }

  private String special(String name) {
    String register = ptx.register(".b32");
    ptx.write("mov.u32 %s, %s", register, name);
    return register;
  }

  private String binary(String instruction, String left, String right) {
    String result = ptx.register(".b32");
    ptx.write("%s %s, %s, %s", instruction, result, left, right);
    return result;
  }

  /**
   * Writes the row number of a thread's {@code item}th row in an iteration, and whether the row
   * exists.
   */
  void locate(int item, String number, String active) {
    ptx.write("add.s32 %s, %s, %d", number, row, item * WARP);
    ptx.write("setp.lt.u32 %s, %s, %s", active, number, rows);
  }

  /** Repeats {@code body} for each iteration. */
  void forEachIteration(Runnable body) {
    String iteration = special("0");
    String iterations = ptx.register(".b32");
    ptx.write("cvt.u32.u64 %s, %s", iterations, arguments.word(Word.ITERATIONS));
    ptx.write("mov.b32 %s, %s", row, firstRow);
    String loop = ptx.label();
    ptx.place(loop);
    body.run();
    ptx.write("add.s32 %s, %s, %d", row, row, WARP * rowsPerIteration);
    ptx.write("add.s32 %s, %s, 1", iteration, iteration);
    String again = ptx.register(".pred");
    ptx.write("setp.lt.s32 %s, %s, %s", again, iteration, iterations);
    ptx.write("@%s bra %s", again, loop);
  }

  /** Selected rows of a warp: lane i holds the bit mask of the i-th group of 32 rows. */
  static final class SelectionMask {
    private final String bits;
    private final String next;
    private final String total;

    private SelectionMask(String bits, String next, String total) {
      this.bits = bits;
      this.next = next;
      this.total = total;
    }
  }

  SelectionMask keptRows() {
    return new SelectionMask(special("0"), special("0"), special("0"));
  }

  /** Adds a group of 32 rows. */
  void keep(SelectionMask kept, String keep) {
    String ballot = ballot(keep);
    String isOwn = ptx.register(".pred");
    ptx.write("setp.eq.s32 %s, %s, %s", isOwn, kept.next, lane);
    ptx.write("selp.b32 %s, %s, %s, %s", kept.bits, ballot, kept.bits, isOwn);
    String count = ptx.register(".b32");
    ptx.write("popc.b32 %s, %s", count, ballot);
    ptx.write("add.s32 %s, %s, %s", kept.total, kept.total, count);
    ptx.write("add.s32 %s, %s, 1", kept.next, kept.next);
  }

  /** Computes the output positions of selected rows by a prefix sum over smaller row numbers. */
  void scanSelected(SelectionMask kept) {
    String prefix = prefix(kept.total);
    outputRows = binary("add.s32", prefix, kept.total);
    writeTotal(Word.HOST_COUNT, outputRows);
    writeTotal(Word.DEVICE_COUNT, outputRows);
    ptx.write("mov.b32 %s, %s", kept.total, prefix);
    ptx.write("mov.b32 %s, 0", kept.next);
  }

  /** Output positions of a group of 32 rows. */
  record Place(String keep, String position, String firstPosition) {}

  /** The positions of the next group, in the order of {@link #keep}. */
  Place nextPlace(SelectionMask kept) {
    String ballot = ptx.register(".b32");
    ptx.write(
        "shfl.sync.idx.b32 %s, %s, %s, %d, %s", ballot, kept.bits, kept.next, LAST_LANE, ALL_LANES);
    String bit = binary("shr.u32", ballot, lane);
    ptx.write("and.b32 %s, %s, 1", bit, bit);
    String rank = binary("and.b32", ballot, special("%lanemask_lt"));
    ptx.write("popc.b32 %s, %s", rank, rank);
    String first = binary("add.s32", kept.total, "0");
    String position = binary("add.s32", first, rank);
    String count = ptx.register(".b32");
    ptx.write("popc.b32 %s, %s", count, ballot);
    ptx.write("add.s32 %s, %s, %s", kept.total, kept.total, count);
    ptx.write("add.s32 %s, %s, 1", kept.next, kept.next);
    return new Place(predicates.compare("ne", bit, 0), position, first);
  }

  private void writeTotal(Word address, String value) {
    ptx.write("@%s st.global.b32 [%s], %s", writesTotals, arguments.word(address), value);
  }

  /**
   * Waits for all lanes of the warp. The mask is one that the assembler does not know: it drops a
   * wait for all lanes where it takes the warp for converged, which is wrong behind calls of long
   * functions (decision 53).
   */
  private void converge() {
    if (mayDiverge) {
      String mask = binary("or.b32", special("%lanemask_lt"), special("%lanemask_ge"));
      ptx.write("bar.warp.sync %s", mask);
    }
  }

  private String ballot(String predicate) {
    converge();
    String ballot = ptx.register(".b32");
    ptx.write("vote.sync.ballot.b32 %s, %s, %s", ballot, predicate, ALL_LANES);
    return ballot;
  }

  /** The sum of all preceding warps. */
  private String prefix(String sumOfWarp) {
    String words = ptx.register(".b64");
    ptx.write(
        "mad.lo.s64 %s, %s, %d, %s",
        words, arguments.word(Word.LOOK_BACK_BYTES), sums++, arguments.word(Word.LOOK_BACK));
    PtxValue prefix = calls.declare(DataType.INT64);
    calls.call(
        "calc_exclusive_prefix",
        List.of(".b64", ".b32", ".b32"),
        List.of(words, tile, sumOfWarp),
        prefix);
    String narrow = ptx.register(".b32");
    ptx.write("cvt.u32.u64 %s, %s", narrow, prefix.register());
    return narrow;
  }

  /** The output position of a row's bytes, for threads with one row each. */
  String placeBytes(String length, int output, CalcColumns columns) {
    if (rowsPerIteration != 1) {
      throw new IllegalStateException(rowsPerIteration + " rows of a thread write no bytes");
    }
    converge();
    PtxValue before = calls.declare(DataType.INT32);
    calls.call("calc_lane_prefix", List.of(".b32"), List.of(length), before);
    String sum = binary("add.s32", before.register(), length);
    String sumOfWarp = ptx.register(".b32");
    ptx.write(
        "shfl.sync.idx.b32 %s, %s, %d, %d, %s", sumOfWarp, sum, LAST_LANE, LAST_LANE, ALL_LANES);
    String prefix = prefix(sumOfWarp);
    String skip = ptx.label();
    ptx.write("@!%s bra %s", writesTotals, skip);
    columns.storeOffset(output, outputRows, binary("add.s32", prefix, sumOfWarp));
    ptx.place(skip);
    return binary("add.s32", prefix, before.register());
  }

  /** Stores 32 mask bits of rows whose position is their row number. */
  void storeMask(String mask, String valid, String row, String active) {
    String bits = ballot(valid);
    String isFirst = predicates.and(active, predicates.compare("eq", lane, 0));
    String word = binary("shr.u32", row, "5");
    ptx.write(
        "@%s st.global.b32 [%s], %s", isFirst, arguments.address(mask, word, Integer.BYTES), bits);
  }

  /** Sets the mask bits of rows that are selected and valid. */
  void setMask(String mask, String valid, String position, String firstPosition, String keep) {
    converge();
    String row = ptx.register(".b32");
    ptx.write("selp.b32 %s, %s, %s, %s", row, position, firstPosition, keep);
    String bit = ptx.register(".b32");
    ptx.write("selp.b32 %s, 1, 0, %s", bit, valid);
    calls.call(
        "calc_set_valid",
        List.of(".b64", ".b32", ".b32", ".b32"),
        List.of(mask, firstPosition, row, bit),
        null);
  }

  /** Writes the end of the kernel. */
  void end() {
    ptx.write("ret");
  }
}
