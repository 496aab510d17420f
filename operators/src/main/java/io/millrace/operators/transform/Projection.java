package io.millrace.operators.transform;

import io.millrace.column.DataType.Field;
import java.io.Serializable;
import java.util.Objects;

/**
 * One column of a select list.
 *
 * @param source the input column's name
 * @param target the output column: its name and the type the input is cast to
 */
public record Projection(String source, Field target) implements Serializable {
  private static final long serialVersionUID = 1L;

  public Projection {
    Objects.requireNonNull(source, "source is null");
    Objects.requireNonNull(target, "target is null");
  }
}
