// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.annotation.Internal;
import io.millrace.calc.CalcProgram.InputWord;
import io.millrace.calc.CalcProgram.Output;
import io.millrace.calc.CalcProgram.Word;
import io.millrace.column.DataType;
import io.millrace.expression.ptx.PtxCall;
import io.millrace.expression.ptx.PtxLibrary;
import io.millrace.expression.ptx.PtxModule;
import io.millrace.expression.ptx.PtxPredicates;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.typed.BatchValue;
import io.millrace.expression.typed.InputPath;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.TypedExpression.Call;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Generates the kernel of a calc. Each thread computes one or more rows in registers. The rows of a
 * warp are consecutive, 32 at a time, so that loads and stores are coalesced. If rows are filtered
 * or bytes written, blocks find their output positions by look-back; see {@code calc.cu}.
 */
@Internal
public final class CalcProgramWriter {
  private static final int MANY_NODES = 48;
  private static final int ROWS_PER_ITERATION = 4;
  // Resident threads per multiprocessor that keep enough loads in flight.
  private static final int RESIDENT_BLOCKS = 4;

  private final TypedExpression condition;
  private final List<TypedExpression> outputs;
  private final boolean[] nullable;
  private final List<InputPath> inputs;
  private final ConditionalExpressions conditional;
  private final Map<Call, Integer> scratches = new LinkedHashMap<>();
  private final List<Call> tables;
  private final PtxModule module;
  private final PtxWriter ptx = new PtxWriter();
  private final PtxPredicates predicates = new PtxPredicates(ptx);
  private final PtxCall calls;
  private final CalcArguments arguments;
  private final CalcColumns columns;
  private final boolean writesBytes;
  private final boolean callsLibrary;
  private final int rowsPerIteration;
  private final boolean iterates;
  private boolean mayNeedHost;

  /** One row of a thread. */
  private final class Item implements PtxExpressionWriter.Row {
    final PtxExpressionWriter expressions = new PtxExpressionWriter(ptx, module, conditional, this);
    final String row = ptx.register(".b32");
    final String active = ptx.register(".pred");
    // Input values are loaded where this predicate is true.
    String guard = active;
    StreamCompactionWriter.Place place;
    final List<OutputValue> outputs = new ArrayList<>();

    @Override
    public PtxValue load(InputPath column, DataType type, boolean nullable) {
      return columns.load(column, type, nullable, row, guard);
    }

    @Override
    public String number() {
      return row;
    }

    @Override
    public String batchValue(BatchValue.Property property) {
      return arguments.word(Word.of(property));
    }

    @Override
    public String scratch(Call call) {
      return scratchAddress(call, row);
    }

    @Override
    public String table(Call call) {
      return arguments.table(tables.indexOf(call));
    }

    @Override
    public void failIf(String predicate) {
      mayNeedHost = true;
      String failed = predicates.and(guard, predicate);
      String skip = ptx.label();
      ptx.write("@!%s bra %s", failed, skip);
      ptx.write("st.global.u32 [%s], 1", arguments.word(Word.NEEDS_HOST));
      String index = ptx.register(".b32");
      String bit = ptx.register(".b32");
      ptx.write("shr.u32 %s, %s, 5", index, row);
      ptx.write("and.b32 %s, %s, 31", bit, row);
      ptx.write("shl.b32 %s, 1, %s", bit, bit);
      String word = arguments.address(arguments.word(Word.ROWS_FOR_HOST), index, Integer.BYTES);
      ptx.write("red.global.or.b32 [%s], %s", word, bit);
      ptx.place(skip);
    }
  }

  /**
   * The value of an output column in a row.
   *
   * @param valid predicate that is true if the row is selected and the value is not null
   * @param length number of bytes of a STRING or BINARY; null for other types
   * @param start position of the bytes in the column; null until it is known
   */
  private record OutputValue(PtxValue value, String valid, String length, String start) {
    OutputValue startingAt(String position) {
      return new OutputValue(value, valid, length, position);
    }
  }

  private CalcProgramWriter(
      TypedExpression condition,
      List<TypedExpression> outputs,
      boolean hasMasks,
      PtxLibrary library) {
    this.condition = condition;
    this.outputs = outputs;
    this.nullable = new boolean[outputs.size()];
    this.module = new PtxModule(library);
    this.calls = new PtxCall(ptx, module);
    List<TypedExpression> roots =
        Stream.concat(Stream.ofNullable(condition), outputs.stream()).toList();
    Set<TypedExpression> nodes = TypedExpression.nodes(roots);
    this.inputs = nodes.stream().flatMap(node -> InputPath.of(node).stream()).distinct().toList();
    this.tables = CalcTables.calls(nodes);
    this.conditional = new ConditionalExpressions(roots);
    this.arguments = new CalcArguments(ptx, inputs, outputs.size(), tables.size());
    this.columns = new CalcColumns(ptx, calls, arguments, hasMasks);
    this.callsLibrary = nodes.stream().anyMatch(ConditionalExpressions::callsLibrary);
    this.writesBytes = outputs.stream().anyMatch(output -> output.type().id().isVariableWidth());
    boolean isLong = nodes.size() > MANY_NODES;
    boolean branches = roots.stream().anyMatch(conditional::contains);
    this.rowsPerIteration = writesBytes || branches || isLong ? 1 : ROWS_PER_ITERATION;
    this.iterates = condition != null && !writesBytes && !sharesWithCondition();
  }

  /**
   * Generates the program of a calc.
   *
   * @param condition null for no filter
   * @param hasMasks whether nullable input columns may have masks
   * @param library the functions that the kernel calls
   */
  public static CalcProgram write(
      TypedExpression condition,
      List<TypedExpression> projections,
      boolean hasMasks,
      PtxLibrary library) {
    return new CalcProgramWriter(condition, projections, hasMasks, library).write();
  }

  /** Whether a projection reuses an expression of the condition other than a column. */
  private boolean sharesWithCondition() {
    Set<TypedExpression> shared = new HashSet<>(condition.nodes());
    shared.retainAll(TypedExpression.nodes(outputs));
    return shared.stream().anyMatch(node -> !node.operands().isEmpty());
  }

  private String scratchAddress(Call call, String row) {
    RowSizeLimit bound = RowSizeLimit.of(call);
    int scratch = scratches.computeIfAbsent(call, next -> scratches.size());
    String base = arguments.scratch(scratch);
    String address = arguments.address(base, row, bound.constant());
    bound
        .factors()
        .forEach(
            (column, factor) -> {
              String start = ptx.register(".b64");
              String offsets = arguments.input(column, InputWord.SECOND_PART);
              ptx.write(
                  "ld.global.nc.s32 %s, [%s]",
                  start, arguments.address(offsets, row, Integer.BYTES));
              ptx.write("mad.lo.s64 %s, %s, %d, %s", address, start, factor, address);
            });
    return address;
  }

  // ---- the kernel ----

  private CalcProgram write() {
    StreamCompactionWriter skeleton =
        new StreamCompactionWriter(ptx, calls, arguments, sums(), rowsPerIteration, callsLibrary);
    if (iterates) {
      writeTwoPasses(skeleton);
    } else {
      writeOnePass(skeleton);
    }
    skeleton.end();
    return program();
  }

  private List<Item> items(StreamCompactionWriter skeleton) {
    List<Item> items = new ArrayList<>();
    for (int i = 0; i < rowsPerIteration; i++) {
      Item item = new Item();
      skeleton.locate(i, item.row, item.active);
      items.add(item);
    }
    return items;
  }

  /** Keeps all rows of a thread in registers. */
  private void writeOnePass(StreamCompactionWriter skeleton) {
    List<Item> items = items(skeleton);
    items.forEach(this::select);
    // The lengths of earlier rows determine the positions of later ones.
    if (writesBytes) {
      items.forEach(this::compute);
    }
    if (condition != null) {
      StreamCompactionWriter.SelectionMask kept = skeleton.keptRows();
      items.forEach(item -> skeleton.keep(kept, item.place.keep()));
      skeleton.scanSelected(kept);
      items.forEach(item -> item.place = skeleton.nextPlace(kept));
    }
    for (int index = 0; index < outputs.size(); index++) {
      if (isBytes(outputs.get(index))) {
        placeBytes(items, index, skeleton);
      }
    }
    if (!writesBytes) {
      items.forEach(this::compute);
    }
    items.forEach(item -> store(item, skeleton));
  }

  private void placeBytes(List<Item> items, int index, StreamCompactionWriter skeleton) {
    for (Item item : items) {
      OutputValue output = item.outputs.get(index);
      String start = skeleton.placeBytes(output.length(), index, columns);
      item.outputs.set(index, output.startingAt(start));
    }
  }

  /** Evaluates the condition for all rows of a thread, then the outputs for the selected rows. */
  private void writeTwoPasses(StreamCompactionWriter skeleton) {
    StreamCompactionWriter.SelectionMask kept = skeleton.keptRows();
    skeleton.forEachIteration(
        () -> {
          List<Item> items = items(skeleton);
          items.forEach(this::select);
          items.forEach(item -> skeleton.keep(kept, item.place.keep()));
        });
    skeleton.scanSelected(kept);
    skeleton.forEachIteration(
        () -> {
          List<Item> items = items(skeleton);
          items.forEach(item -> item.place = skeleton.nextPlace(kept));
          items.forEach(this::compute);
          items.forEach(item -> store(item, skeleton));
        });
  }

  private int sums() {
    long bytes = outputs.stream().filter(CalcProgramWriter::isBytes).count();
    return (condition == null ? 0 : 1) + (int) bytes;
  }

  private static boolean isBytes(TypedExpression output) {
    return output.type().id().isVariableWidth();
  }

  private void select(Item item) {
    if (condition == null) {
      item.place = new StreamCompactionWriter.Place(item.active, item.row, item.row);
      return;
    }
    PtxValue value =
        branchIf(conditional.contains(condition), item, () -> item.expressions.write(condition));
    String keep = predicates.and(predicates.and(value.register(), value.valid()), item.active);
    item.place = new StreamCompactionWriter.Place(keep, null, null);
  }

  /** Branches around expensive code that is not needed; cheap code costs less than a branch. */
  private <T> T branchIf(boolean isWorthIt, Item item, Supplier<T> body) {
    if (!isWorthIt) {
      return body.get();
    }
    String skip = ptx.label();
    ptx.write("@!%s bra %s", item.guard, skip);
    T result = body.get();
    ptx.place(skip);
    return result;
  }

  /** Computes all outputs of a selected row. */
  private void compute(Item item) {
    item.guard = item.place.keep();
    boolean branches = outputs.stream().anyMatch(conditional::contains);
    List<PtxValue> values =
        branchIf(
            branches,
            item,
            () -> outputs.stream().map(output -> item.expressions.write(output)).toList());
    for (int i = 0; i < outputs.size(); i++) {
      PtxValue value = values.get(i);
      String valid = predicates.and(item.place.keep(), value.valid());
      String length = null;
      if (isBytes(outputs.get(i))) {
        length = ptx.register(".b32");
        ptx.write("selp.b32 %s, %s, 0, %s", length, value.secondPart(), valid);
      }
      item.outputs.add(new OutputValue(value, valid, length, null));
    }
  }

  private void store(Item item, StreamCompactionWriter skeleton) {
    StreamCompactionWriter.Place place = item.place;
    for (int i = 0; i < outputs.size(); i++) {
      OutputValue written = item.outputs.get(i);
      PtxValue value = written.value();
      if (isBytes(outputs.get(i))) {
        int index = i;
        branchIf(
            true,
            item,
            () -> {
              columns.storeBytes(index, value, place.position(), written.start(), written.length());
              return null;
            });
      } else {
        boolean computed = InputPath.of(outputs.get(i)).isEmpty();
        columns.store(i, value, place.position(), computed, place.keep());
      }
    }
    for (int i = 0; i < outputs.size(); i++) {
      String valid = item.outputs.get(i).valid();
      nullable[i] = item.outputs.get(i).value().valid() != null;
      if (nullable[i]) {
        String mask = arguments.output(i, CalcProgram.OutputWord.VALIDITY);
        if (condition == null) {
          skeleton.storeMask(mask, valid, item.row, item.active);
        } else {
          skeleton.setMask(mask, valid, place.position(), place.firstPosition(), place.keep());
        }
      }
    }
  }

  private Output output(int index) {
    TypedExpression output = outputs.get(index);
    RowSizeLimit bound = isBytes(output) ? RowSizeLimit.of(output) : null;
    return new Output(output.type(), bound, nullable[index]);
  }

  private CalcProgram program() {
    int bytes =
        CalcProgram.tableOffset(inputs.size(), outputs.size(), tables.size() + scratches.size());
    String header =
        String.format(
            Locale.ROOT,
            ".visible .entry %s(.param .align 8 .b8 arguments[%d])\n.maxntid %d, 1, 1\n%s",
            CalcProgram.KERNEL,
            bytes,
            CalcProgram.THREADS,
            rowsPerIteration == 1 ? "" : ".minnctapersm " + RESIDENT_BLOCKS + "\n");
    String kernel = header + "{\n" + ptx.declarations() + arguments.loads() + ptx.text() + "}\n";
    return new CalcProgram(
        module.text(kernel),
        inputs,
        IntStream.range(0, outputs.size()).mapToObj(this::output).toList(),
        scratches.keySet().stream().map(RowSizeLimit::of).toList(),
        tables.size(),
        condition != null,
        mayNeedHost,
        rowsPerIteration,
        iterates);
  }
}
