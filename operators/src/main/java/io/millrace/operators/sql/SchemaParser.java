// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.row.SchemaConverter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;

/** Parses lists of columns in SQL's syntax: {@code id BIGINT NOT NULL, `my name` STRING}. */
@Internal
public final class SchemaParser {
  private static final Pattern COLUMN =
      Pattern.compile("(?:`((?:[^`]|``)+)`|([^\\s`]+))\\s+(\\S.*)", Pattern.DOTALL);
  private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  private SchemaParser() {}

  /**
   * The columns that {@code text} lists, nullable unless their types say NOT NULL.
   *
   * @param option the name of the option that has the text, for messages
   * @throws SqlTextException if an item is not a name and a type, or two columns have the same name
   */
  public static Schema parse(String option, String text) {
    try {
      return new Schema(split(text).stream().map(SchemaParser::parseColumn).toList());
    } catch (IllegalArgumentException e) {
      throw new SqlTextException(option + ": " + e.getMessage());
    }
  }

  private static Field parseColumn(String text) {
    Matcher column = COLUMN.matcher(text);
    if (!column.matches()) {
      throw new SqlTextException("cannot read '" + text + "' as a column; write a name and a type");
    }
    String name = column.group(1) == null ? column.group(2) : column.group(1).replace("``", "`");
    Field field = parseField(column.group(3));
    return new Field(name, field.type(), field.nullable());
  }

  /** The names of a list that is separated by commas; backticks around a name are removed. */
  public static List<String> parseNames(String text) {
    return split(text).stream()
        .map(
            name ->
                name.length() > 1 && name.startsWith("`") && name.endsWith("`")
                    ? name.substring(1, name.length() - 1).replace("``", "`")
                    : name)
        .toList();
  }

  /** A column's name as {@link #parse} and SQL read it: in backticks unless it is an identifier. */
  public static String quote(String name) {
    return PLAIN_NAME.matcher(name).matches() ? name : "`" + name.replace("`", "``") + "`";
  }

  /**
   * Parses a type in SQL's syntax.
   *
   * @throws SqlTextException if {@code text} is not the type of a column
   */
  public static DataType parseType(String text) {
    return parseField(text).type();
  }

  private static Field parseField(String text) {
    // Flink converts keywords to upper case in the default locale, where i may not become I.
    String sql = text.contains("<") ? text : text.toUpperCase(Locale.ROOT);
    try {
      RowType row = RowType.of(LogicalTypeParser.parse(sql, SchemaParser.class.getClassLoader()));
      return SchemaConverter.toSchema(row).field(0);
    } catch (ValidationException | IllegalArgumentException e) {
      throw new SqlTextException("expected a column type, got '" + text + "'");
    }
  }

  /**
   * The items between the commas that are outside parentheses, angle brackets and backticks,
   * trimmed.
   */
  private static List<String> split(String text) {
    List<String> items = new ArrayList<>();
    int depth = 0;
    boolean quoted = false;
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      quoted ^= c == '`';
      if (quoted) {
        continue;
      }
      depth += c == '(' || c == '<' ? 1 : c == ')' || c == '>' ? -1 : 0;
      if (c == ',' && depth == 0) {
        items.add(text.substring(start, i).trim());
        start = i + 1;
      }
    }
    items.add(text.substring(start).trim());
    return items;
  }
}
