// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql;

import io.millrace.expression.Expression;
import io.millrace.operators.aggregate.Aggregate;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * An aggregate written as SQL text.
 *
 * @param inputs the expressions that it evaluates for each row: its argument and its filter
 */
@Internal
public record SqlAggregate(Aggregate aggregate, List<Expression> inputs) {}
