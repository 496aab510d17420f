// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.lookup;

import io.millrace.column.Schema;
import io.millrace.operators.context.DeviceContext;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A table of another system that batches are looked up in by its keys. Subtasks of a job whose
 * definitions are {@linkplain Object#equals equal} share one copy in each TaskManager and device.
 * Immutable; serialized with the job.
 */
@PublicEvolving
public interface DimensionTable extends Serializable {

  /** A name for plans, metrics, logs and messages. */
  String name();

  /**
   * The columns: of any types but ARRAY and ROW. The keys have no nulls; other columns are nullable
   * where they were looked up, whatever they are here.
   */
  Schema schema();

  /** The columns that tell rows: at least one, and at most one row for each of their values. */
  List<String> keys();

  /** How often the table is read again, and how old it may be. */
  RefreshOptions refresh();

  /**
   * A reader of the rows as they are now.
   *
   * @param context of the thread that reads; stays the caller's
   * @throws Exception if the rows cannot be read now
   */
  DimensionReader open(DeviceContext context) throws Exception;
}
