// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import java.lang.reflect.Field;
import org.apache.flink.annotation.Internal;

/**
 * Reads fields of a node of Flink's planner that have no accessor, but are arguments of the
 * constructor by which a copy of the node is made.
 *
 * @param type the class that declares the fields
 */
@Internal
public record PlannerField(Class<?> type, Object node) {
  /**
   * The value of a field.
   *
   * @throws UnsupportedNodeException if the planner's class has no such field
   */
  public <T> T get(String name, Class<T> valueType) {
    try {
      Field field = type.getDeclaredField(name);
      field.setAccessible(true);
      return valueType.cast(field.get(node));
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new UnsupportedNodeException("Flink's planner has no field " + name + " as expected");
    }
  }
}
