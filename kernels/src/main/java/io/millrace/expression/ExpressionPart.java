// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import java.io.Serializable;
import java.util.List;

/**
 * A node in the list representation of an expression. Operands are given as list indexes.
 *
 * @param properties the record components other than operands, in declaration order
 * @param operands indexes of earlier nodes
 */
record ExpressionPart(Kind kind, List<Serializable> properties, List<Integer> operands)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  enum Kind {
    COLUMN,
    LITERAL,
    CALL,
    CAST,
    CASE,
    FIELD_ACCESS,
    ALIAS
  }
}
