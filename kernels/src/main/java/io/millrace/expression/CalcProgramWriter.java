package io.millrace.expression;

import io.millrace.expression.CalcProgram.InputWord;
import io.millrace.expression.CalcProgram.Output;
import io.millrace.expression.CalcProgram.Word;
import io.millrace.expression.TypedExpression.Call;
import io.millrace.expression.TypedExpression.InputReference;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Generates the kernel of a calc. Each thread computes one or more rows in registers; a warp's rows
 * follow each other, 32 at a time, so that its loads and stores do too. Where rows are filtered or
 * bytes written, blocks find out by look-back where theirs go; see {@code calc.cu}.
 */
final class CalcProgramWriter {
  private static final int MANY_NODES = 48;
  private static final int ROWS_OF_THREAD = 4;

  private final TypedExpression condition;
  private final List<Output> outputs;
  private final List<Integer> inputs;
  private final List<Call> scratches = new ArrayList<>();
  private final PtxModule module;
  private final PtxWriter ptx = new PtxWriter();
  private final PtxPredicates predicates = new PtxPredicates(ptx);
  private final PtxCall calls;
  private final CalcArguments arguments;
  private final CalcColumns columns;
  private final boolean writesBytes;
  private final int rowsOfThread;
  private boolean mayNeedHost;

  /** One row of a thread. */
  private final class Item implements PtxExpressionWriter.Row {
    final PtxExpressionWriter expressions = new PtxExpressionWriter(ptx, module, this);
    final String row = ptx.register(".b32");
    final String active = ptx.register(".pred");
    // Whether the row goes to the output, and where.
    String keep;
    String position;
    // Where the warp's first row of these goes.
    String firstPosition;
    // One an output: its value, when it is valid, and of bytes its length and place.
    final List<PtxValue> values = new ArrayList<>();
    final List<String> valid = new ArrayList<>();
    final List<String> lengths = new ArrayList<>();
    final List<String> starts = new ArrayList<>();

    @Override
    public PtxValue load(InputReference reference) {
      return columns.load(reference, row);
    }

    @Override
    public String number() {
      return row;
    }

    @Override
    public String scratch(Call call) {
      return scratchAddress(call, row);
    }

    @Override
    public void failIf(String predicate) {
      mayNeedHost = true;
      ptx.write("@%s st.global.u32 [%s], 1", predicate, arguments.word(Word.NEEDS_HOST));
    }
  }

  private CalcProgramWriter(TypedExpression condition, List<Output> outputs, PtxLibrary library) {
    this.condition = condition;
    this.outputs = outputs;
    this.module = new PtxModule(library);
    this.calls = new PtxCall(ptx, module);
    Set<Integer> read = new LinkedHashSet<>();
    Set<TypedExpression> nodes = new LinkedHashSet<>();
    roots().forEach(root -> collect(root, nodes, read));
    this.inputs = List.copyOf(read);
    this.arguments = new CalcArguments(ptx, inputs, outputs.size());
    this.columns = new CalcColumns(ptx, calls, arguments);
    this.writesBytes =
        outputs.stream().anyMatch(output -> output.expression().type().id().isVariableWidth());
    boolean callsLibrary = nodes.stream().anyMatch(CalcProgramWriter::callsLibrary);
    this.rowsOfThread =
        writesBytes || callsLibrary || nodes.size() > MANY_NODES ? 1 : ROWS_OF_THREAD;
  }

  /**
   * The program of a calc.
   *
   * @param condition null for all rows
   * @param library where the functions are that it calls
   */
  static CalcProgram write(
      TypedExpression condition, List<TypedExpression> projections, PtxLibrary library) {
    List<Output> outputs = projections.stream().map(Output::of).toList();
    return new CalcProgramWriter(condition, outputs, library).write();
  }

  private List<TypedExpression> roots() {
    List<TypedExpression> roots = new ArrayList<>();
    if (condition != null) {
      roots.add(condition);
    }
    outputs.forEach(output -> roots.add(output.expression()));
    return roots;
  }

  private static void collect(
      TypedExpression expression, Set<TypedExpression> nodes, Set<Integer> inputs) {
    if (nodes.add(expression)) {
      if (expression instanceof InputReference reference) {
        inputs.add(reference.index());
      }
      expression.operands().forEach(operand -> collect(operand, nodes, inputs));
    }
  }

  private static boolean callsLibrary(TypedExpression expression) {
    return expression instanceof TypedExpression.Try
        || (expression instanceof Call call
            && call.function().device().orElse(null) instanceof DeviceFunction.LibraryFunction);
  }

  private String scratchAddress(Call call, String row) {
    if (!scratches.contains(call)) {
      scratches.add(call);
    }
    RowBound bound = RowBound.of(call);
    String base = arguments.scratch(scratches.indexOf(call));
    String address = arguments.address(base, row, bound.constant());
    bound
        .factors()
        .forEach(
            (column, factor) -> {
              String start = ptx.register(".b64");
              String offsets = arguments.input(column, InputWord.SECOND);
              ptx.write(
                  "ld.global.nc.s32 %s, [%s]",
                  start, arguments.address(offsets, row, Integer.BYTES));
              ptx.write("mad.lo.s64 %s, %s, %d, %s", address, start, factor, address);
            });
    return address;
  }

  // ---- the kernel ----

  private CalcProgram write() {
    CalcSkeleton skeleton = new CalcSkeleton(ptx, calls, arguments, sums(), rowsOfThread);
    List<Item> items = new ArrayList<>();
    for (int i = 0; i < rowsOfThread; i++) {
      Item item = new Item();
      skeleton.locate(i, item.row, item.active);
      items.add(item);
    }
    items.forEach(this::select);
    if (writesBytes) {
      items.forEach(this::compute);
    }
    place(items, skeleton);
    if (!writesBytes) {
      items.forEach(this::compute);
    }
    items.forEach(item -> store(item, skeleton));
    skeleton.end();
    return program();
  }

  private int sums() {
    long bytes = outputs.stream().filter(CalcProgramWriter::isBytes).count();
    return (condition == null ? 0 : 1) + (int) bytes;
  }

  private static boolean isBytes(Output output) {
    return output.expression().type().id().isVariableWidth();
  }

  private void select(Item item) {
    if (condition == null) {
      item.keep = item.active;
    } else {
      String skip = ptx.label();
      ptx.write("@!%s bra %s", item.active, skip);
      PtxValue value = item.expressions.write(condition);
      ptx.place(skip);
      String isTrue = predicates.and(value.register(), value.valid());
      item.keep = predicates.and(isTrue, item.active);
    }
  }

  /** Computes all outputs of a row that is kept. */
  private void compute(Item item) {
    String skip = ptx.label();
    ptx.write("@!%s bra %s", item.keep, skip);
    for (Output output : outputs) {
      item.values.add(item.expressions.write(output.expression()));
    }
    ptx.place(skip);
    for (int i = 0; i < outputs.size(); i++) {
      PtxValue value = item.values.get(i);
      item.valid.add(predicates.and(item.keep, value.valid()));
      String length = null;
      if (isBytes(outputs.get(i))) {
        length = ptx.register(".b32");
        ptx.write("selp.b32 %s, %s, 0, %s", length, value.second(), item.valid.get(i));
      }
      item.lengths.add(length);
    }
  }

  /** Finds out where the rows that are kept and their bytes go. */
  private void place(List<Item> items, CalcSkeleton skeleton) {
    if (condition == null) {
      items.forEach(
          item -> {
            item.position = item.row;
            item.firstPosition = item.row;
          });
    } else {
      CalcSkeleton.Places places =
          skeleton.placeRows(items.stream().map(item -> item.keep).toList());
      for (int i = 0; i < items.size(); i++) {
        items.get(i).position = places.positions().get(i);
        items.get(i).firstPosition = places.firstPositions().get(i);
      }
    }
    for (int index = 0; index < outputs.size(); index++) {
      for (Item item : items) {
        item.starts.add(
            isBytes(outputs.get(index))
                ? skeleton.placeBytes(item.lengths.get(index), index, columns)
                : null);
      }
    }
  }

  private void store(Item item, CalcSkeleton skeleton) {
    String skip = ptx.label();
    ptx.write("@!%s bra %s", item.keep, skip);
    for (int i = 0; i < outputs.size(); i++) {
      Output output = outputs.get(i);
      PtxValue value = item.values.get(i);
      if (isBytes(output)) {
        columns.storeBytes(i, value, item.position, item.starts.get(i), item.lengths.get(i));
      } else {
        boolean computed = !(output.expression() instanceof InputReference);
        columns.store(i, value, item.position, computed);
      }
    }
    ptx.place(skip);
    for (int i = 0; i < outputs.size(); i++) {
      if (outputs.get(i).nullable()) {
        String mask = arguments.output(i, CalcProgram.OutputWord.VALIDITY);
        if (condition == null) {
          skeleton.storeMask(mask, item.valid.get(i), item.row, item.active);
        } else {
          skeleton.setMask(mask, item.valid.get(i), item.position, item.firstPosition, item.keep);
        }
      }
    }
  }

  private CalcProgram program() {
    int bytes = CalcProgram.scratchOffset(inputs.size(), outputs.size(), scratches.size());
    String header =
        String.format(
            Locale.ROOT,
            ".visible .entry %s(.param .align 8 .b8 arguments[%d])\n.maxntid %d, 1, 1\n",
            CalcProgram.KERNEL,
            bytes,
            CalcProgram.THREADS);
    String kernel = header + "{\n" + ptx.declarations() + arguments.loads() + ptx.text() + "}\n";
    return new CalcProgram(
        module.text(kernel),
        inputs,
        outputs,
        scratches.stream().map(RowBound::of).toList(),
        condition != null,
        mayNeedHost,
        rowsOfThread);
  }
}
