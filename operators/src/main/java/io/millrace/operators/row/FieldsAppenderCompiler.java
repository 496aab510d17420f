package io.millrace.operators.row;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import java.util.List;
import java.util.Optional;
import org.apache.flink.table.runtime.generated.CompileUtils;

/**
 * Writes and compiles a {@link FieldsAppender} for the columns of one table, as Flink's planner
 * compiles what converts rows: one statement a field, without a loop, and with call sites of its
 * own, so that the virtual machine inlines the getters of the rows that this table gets.
 */
final class FieldsAppenderCompiler {
  private static final String CLASS_NAME = "CompiledFieldsAppender";
  // The virtual machine leaves methods interpreted that are too long.
  private static final int MAXIMUM_FIELDS = 100;

  private FieldsAppenderCompiler() {}

  /** An appender of the columns of {@code fields}; not a compiled one if there are very many. */
  static FieldsAppender compile(List<Field> fields, List<ColumnBuilder> builders) {
    if (fields.size() > MAXIMUM_FIELDS) {
      return new FieldsAppender(fields, builders);
    }
    Class<FieldsAppender> compiled =
        CompileUtils.compile(FieldsAppender.class.getClassLoader(), CLASS_NAME, code(fields));
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
        statements.append("    appendField(row, %d);%n".formatted(i));
        continue;
      }
      members.append("  private final %s column%d;%n".formatted(builderClass, i));
      assignments.append(
          "    column%1$d = (%2$s) builders.get(%1$d);%n".formatted(i, builderClass));
      statements.append(
          """
              if (row.isNullAt(%1$d)) {
                appendNull(%1$d);
              } else {
                column%1$d.append%2$s(row.get%2$s(%1$d));
              }
          """
              .formatted(i, type.get()));
    }
    return """
        public final class %1$s extends %2$s {
        %3$s
          public %1$s(java.util.List fields, java.util.List builders) {
            super(fields, builders);
        %4$s  }

          @Override
          protected void appendFields(org.apache.flink.table.data.RowData row) {
        %5$s  }
        }
        """
        .formatted(CLASS_NAME, FieldsAppender.class.getName(), members, assignments, statements);
  }

  /** What the getter of rows and the method of builders for a field have in their names. */
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
