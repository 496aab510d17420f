// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import java.io.Serializable;
import java.util.List;

/**
 * A node of an expression in a list of nodes, which names its operands by their indexes.
 *
 * @param properties the record's components other than operands, in the order of their declaration
 * @param operands indexes of parts before this one
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
    ALIAS
  }
}
