package io.millrace.operators.transform;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.expression.Calc;
import io.millrace.expression.ResolutionContext;
import io.millrace.expression.TypedExpression;
import io.millrace.expression.TypedExpression.InputReference;
import io.millrace.kernel.Gather;
import io.millrace.operators.batch.DeviceContext;
import io.millrace.operators.batch.HostTransfer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A {@link Calc} of batches. Columns that no expression computes, ARRAY, ROW and DICTIONARY, are
 * passed on beside it: shared, or gathered by the numbers of the rows that a filter leaves.
 */
public final class CalcTransform implements TableTransform {
  private static final String ROW_NUMBER = "$row_number";
  private static final Field ROW_NUMBER_FIELD = new Field(ROW_NUMBER, DataType.INT32, false);

  private final Calc calc;
  private final DeviceContext context;
  private final HostTransfer transfer;
  private final List<Integer> passedOn;
  private final Calc computed;

  CalcTransform(Calc calc, DeviceContext context) {
    this.calc = calc;
    this.context = context;
    this.transfer = new HostTransfer(context);
    this.passedOn =
        IntStream.range(0, calc.projections().size())
            .filter(i -> isNested(calc.projections().get(i).type()))
            .boxed()
            .toList();
    this.computed = passedOn.isEmpty() ? calc : withoutPassedOn();
  }

  /** A factory of transforms by {@code plan}. */
  public static Factory factory(CalcPlan plan) {
    return context -> new CalcTransform(plan.calc(), context);
  }

  /** Whether values of this type are only passed on. */
  static boolean isNested(DataType type) {
    return type.id() == TypeId.LIST || type.id() == TypeId.STRUCT || type.id() == TypeId.DICTIONARY;
  }

  private Calc withoutPassedOn() {
    List<Field> inputs = new ArrayList<>(calc.inputSchema().fields());
    List<Field> outputs = new ArrayList<>();
    List<TypedExpression> projections = new ArrayList<>();
    for (int i = 0; i < calc.projections().size(); i++) {
      if (!passedOn.contains(i)) {
        outputs.add(calc.outputSchema().field(i));
        projections.add(calc.projections().get(i));
      }
    }
    if (calc.condition().isPresent()) {
      projections.add(new InputReference(inputs.size(), ROW_NUMBER, DataType.INT32, false));
      outputs.add(ROW_NUMBER_FIELD);
      inputs.add(ROW_NUMBER_FIELD);
    }
    return Calc.ofResolved(
        new Schema(inputs),
        calc.condition(),
        new Schema(outputs),
        projections,
        ResolutionContext.DEFAULT);
  }

  @Override
  public Table apply(Table input) {
    if (passedOn.isEmpty()) {
      return calc.apply(input, context.stream(), context.resource());
    }
    return calc.condition().isPresent() ? applyWithRowNumbers(input) : applyBesideShared(input);
  }

  private Table applyBesideShared(Table input) {
    try (Table results = computed.apply(input, context.stream(), context.resource());
        Table shared = passedOn(input)) {
      return assemble(results, shared);
    }
  }

  private Table applyWithRowNumbers(Table input) {
    int[] numbers = IntStream.range(0, input.rowCount()).toArray();
    try (Table rowNumbers = RowMap.upload(transfer, numbers);
        Table numbered = numbered(input, rowNumbers);
        Table results = computed.apply(numbered, context.stream(), context.resource());
        Table shared = passedOn(input);
        Table gathered =
            Gather.gather(
                shared, results.column(ROW_NUMBER), context.stream(), context.resource())) {
      return assemble(results, gathered);
    }
  }

  private Table numbered(Table input, Table rowNumbers) {
    List<Column> columns = new ArrayList<>(input.columns());
    columns.add(rowNumbers.column(0));
    return share(computed.inputSchema(), columns, input.rowCount());
  }

  private Table passedOn(Table input) {
    return share(
        new Schema(passedOn.stream().map(calc.outputSchema()::field).toList()),
        passedOn.stream().map(i -> input.column(inputOf(calc.projections().get(i)))).toList(),
        input.rowCount());
  }

  private static int inputOf(TypedExpression projection) {
    return ((InputReference) projection).index();
  }

  /** The columns of the output, of the two in turn. */
  private Table assemble(Table results, Table others) {
    List<Column> columns = new ArrayList<>();
    int result = 0;
    int other = 0;
    for (int i = 0; i < calc.projections().size(); i++) {
      columns.add(passedOn.contains(i) ? others.column(other++) : results.column(result++));
    }
    return share(calc.outputSchema(), columns, results.rowCount());
  }

  private static Table share(Schema schema, List<Column> columns, int rows) {
    List<Column> shared = new ArrayList<>();
    try {
      columns.forEach(column -> shared.add(column.share()));
      return new Table(schema, shared, rows);
    } catch (RuntimeException | Error e) {
      shared.forEach(Column::close);
      throw e;
    }
  }

  @Override
  public void close() {
    transfer.close();
  }
}
