// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.TypeId;
import io.millrace.column.VariableWidthColumnBuilder;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.generated.CompileUtils;

/**
 * Generates and compiles a {@link GetterRowAppender} for the columns of one table, as Flink's
 * planner does for row converters: one statement per field, without a loop. Only tables with the
 * same types share its call sites, so that the virtual machine inlines the getters of their rows.
 */
final class GetterRowAppenderCompiler {
  private static final String CLASS_NAME = "CompiledFieldsAppender";
  private static final String ROW = RowData.class.getName();
  // The virtual machine interprets longer methods and does not compile them.
  private static final int MAX_FIELDS = 100;

  private GetterRowAppenderCompiler() {}

  /** An appender to the columns of {@code fields}; compiled unless there are very many columns. */
  static GetterRowAppender compile(
      List<Field> fields, int arity, List<LeafPath> paths, List<ColumnBuilder> builders) {
    if (fields.size() > MAX_FIELDS) {
      return new GetterRowAppender(fields, arity, paths, builders);
    }
    Class<GetterRowAppender> compiled =
        CompileUtils.compile(
            GetterRowAppender.class.getClassLoader(), CLASS_NAME, code(fields, paths));
    try {
      return compiled
          .getConstructor(List.class, int.class, List.class, List.class)
          .newInstance(fields, arity, paths, builders);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the compiled appender of " + fields + " is not usable", e);
    }
  }

  private static String code(List<Field> fields, List<LeafPath> paths) {
    StringBuilder members = new StringBuilder();
    StringBuilder assignments = new StringBuilder();
    StringBuilder statements = new StringBuilder();
    Map<List<Integer>, String> rows = new HashMap<>(Map.of(List.of(), "row"));
    for (int i = 0; i < fields.size(); i++) {
      LeafPath path = paths.get(i);
      String row = declareParent(path, rows, statements);
      Optional<String> statement = append(fields.get(i).type(), i, row, path.position());
      if (statement.isEmpty()) {
        statements.append(text("    appendField(%s, %d, %d);\n", row, path.position(), i));
        continue;
      }
      String builder = builderClass(fields.get(i).type()).getName();
      members.append(text("  private final %s column%d;\n", builder, i));
      assignments.append(text("    column%1$d = (%2$s) builders.get(%1$d);\n", i, builder));
      statements.append(
          text(
              """
                  if (%1$s == null || %1$s.isNullAt(%2$d)) {
                    appendNull(%3$d);
                  } else {
                    %4$s
                  }
              """,
              row, path.position(), i, statement.get()));
    }
    return text(
        """
        public final class %1$s extends %2$s {
        %3$s
          public %1$s(
              java.util.List fields, int arity, java.util.List paths, java.util.List builders) {
            super(fields, arity, paths, builders);
        %4$s  }

          @Override
          protected void appendFields(%5$s row) {
        %6$s  }
        }
        """,
        CLASS_NAME, GetterRowAppender.class.getName(), members, assignments, ROW, statements);
  }

  /** Declares variables of the ROWs on the way that have none yet; returns the last one's name. */
  private static String declareParent(
      LeafPath path, Map<List<Integer>, String> rows, StringBuilder statements) {
    String parent = "row";
    for (int step = 0; step < path.arities().size(); step++) {
      List<Integer> prefix = path.indices().subList(0, step + 1);
      String name = rows.get(prefix);
      if (name == null) {
        name = text("row%d", rows.size());
        rows.put(prefix, name);
        statements.append(
            text(
                "    %1$s %2$s = %3$s == null || %3$s.isNullAt(%4$d) ? null : %3$s.getRow(%4$d, %5$d);\n",
                ROW, name, parent, path.indices().get(step), path.arities().get(step)));
      }
      parent = name;
    }
    return parent;
  }

  // The default locale may have other digits.
  private static String text(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }

  private static Class<? extends ColumnBuilder> builderClass(DataType type) {
    return type.id() == TypeId.STRING
        ? VariableWidthColumnBuilder.class
        : FixedWidthColumnBuilder.class;
  }

  /** A statement that appends a value which is not null, for the types that streams have most. */
  private static Optional<String> append(DataType type, int column, String row, int position) {
    return switch (type.id()) {
      case BOOL -> Optional.of(append("Boolean", column, row, position));
      case INT8 -> Optional.of(append("Byte", column, row, position));
      case INT16 -> Optional.of(append("Short", column, row, position));
      case INT32, DATE, TIME -> Optional.of(append("Int", column, row, position));
      case INT64 -> Optional.of(append("Long", column, row, position));
      case FLOAT32 -> Optional.of(append("Float", column, row, position));
      case FLOAT64 -> Optional.of(append("Double", column, row, position));
      case STRING ->
          Optional.of(text("append(column%d, %s.getString(%d));", column, row, position));
      case TIMESTAMP_MILLIS ->
          Optional.of(
              text(
                  "column%d.appendLong(%s.getTimestamp(%d, %d).getMillisecond());",
                  column, row, position, type.precision()));
      default -> Optional.empty();
    };
  }

  /**
   * @param type the end of the name that the row's getter and the builder's method share
   */
  private static String append(String type, int column, String row, int position) {
    return text("column%1$d.append%2$s(%3$s.get%2$s(%4$d));", column, type, row, position);
  }
}
