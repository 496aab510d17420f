// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.flink.table.runtime.generated.CompileUtils;

/**
 * Generates and compiles a {@link GetterRowAppender} for the columns of one table, as Flink's
 * planner does for row converters: one statement per field, without a loop. Only tables with the
 * same types share its call sites, so that the virtual machine inlines the getters of their rows.
 */
final class GetterRowAppenderCompiler {
  private static final String CLASS_NAME = "CompiledFieldsAppender";
  // The virtual machine interprets longer methods and does not compile them.
  private static final int MAX_FIELDS = 100;

  private GetterRowAppenderCompiler() {}

  /** An appender to the columns of {@code fields}; compiled unless there are very many columns. */
  static GetterRowAppender compile(List<Field> fields, List<ColumnBuilder> builders) {
    if (fields.size() > MAX_FIELDS) {
      return new GetterRowAppender(fields, builders);
    }
    Class<GetterRowAppender> compiled =
        CompileUtils.compile(GetterRowAppender.class.getClassLoader(), CLASS_NAME, code(fields));
    try {
      return compiled.getConstructor(List.class, List.class).newInstance(fields, builders);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the compiled appender of " + fields + " is not usable", e);
    }
  }

  private static String code(List<Field> fields) {
    StringBuilder members = new StringBuilder();
    StringBuilder assignments = new StringBuilder();
    StringBuilder statements = new StringBuilder();
    String builderClass = FixedWidthColumnBuilder.class.getName();
    for (int i = 0; i < fields.size(); i++) {
      Optional<String> type = javaType(fields.get(i));
      if (type.isEmpty()) {
        statements.append(text("    appendField(row, %d);\n", i));
        continue;
      }
      members.append(text("  private final %s column%d;\n", builderClass, i));
      assignments.append(text("    column%1$d = (%2$s) builders.get(%1$d);\n", i, builderClass));
      statements.append(
          text(
              """
              if (row.isNullAt(%1$d)) {
                appendNull(%1$d);
              } else {
                column%1$d.append%2$s(row.get%2$s(%1$d));
              }
          """,
              i, type.get()));
    }
    return text(
        """
        public final class %1$s extends %2$s {
        %3$s
          public %1$s(java.util.List fields, java.util.List builders) {
            super(fields, builders);
        %4$s  }

          @Override
          protected void appendFields(org.apache.flink.table.data.RowData row) {
        %5$s  }
        }
        """,
        CLASS_NAME, GetterRowAppender.class.getName(), members, assignments, statements);
  }

  // The default locale may have other digits.
  private static String text(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }

  /** The end of the name that a field's row getter and builder method share, such as "Int". */
  private static Optional<String> javaType(Field field) {
    return switch (field.type().id()) {
      case BOOL -> Optional.of("Boolean");
      case INT8 -> Optional.of("Byte");
      case INT16 -> Optional.of("Short");
      case INT32, DATE, TIME -> Optional.of("Int");
      case INT64 -> Optional.of("Long");
      case FLOAT32 -> Optional.of("Float");
      case FLOAT64 -> Optional.of("Double");
      default -> Optional.empty();
    };
  }
}
