// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.types.logical.LogicalType;

/**
 * Replaces functions whose values the plan determines by these values: TYPEOF and CURRENT_DATABASE.
 */
@Internal
public final class PlanConstants extends RexShuttle {
  private final RexBuilder rexBuilder;
  private final String database;

  /**
   * @param database the current one of the session
   */
  public PlanConstants(RexBuilder rexBuilder, String database) {
    this.rexBuilder = rexBuilder;
    this.database = database;
  }

  @Override
  public RexNode visitCall(RexCall call) {
    if (UserFunctions.isOfUser(call)) {
      return super.visitCall(call);
    }
    return switch (call.getOperator().getName()) {
      case "CURRENT_DATABASE" -> rexBuilder.makeLiteral(database, call.getType(), true);
      case "TYPEOF" -> rexBuilder.makeLiteral(typeOf(call), call.getType(), true);
      default -> super.visitCall(call);
    };
  }

  private static String typeOf(RexCall call) {
    LogicalType type = FlinkTypeFactory.toLogicalType(call.getOperands().get(0).getType());
    boolean isSerializable =
        call.getOperands().size() > 1 && call.getOperands().get(1).isAlwaysTrue();
    try {
      return isSerializable ? type.asSerializableString() : type.asSummaryString();
    } catch (TableException e) {
      return null;
    }
  }
}
