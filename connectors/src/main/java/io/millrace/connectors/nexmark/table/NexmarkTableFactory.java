// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark.table;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.nexmark.NexmarkConfiguration;
import io.millrace.connectors.nexmark.NexmarkOptions;
import io.millrace.connectors.nexmark.NexmarkSchemas;
import io.millrace.connectors.table.TableColumns;
import io.millrace.connectors.table.TableOptions;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.sql.table.SqlOptions;
import java.util.Set;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;

/**
 * The connector {@code millrace-nexmark}: the events of Nexmark, with the options of the
 * benchmark's connector {@code nexmark}. The columns of a table are those of {@link
 * NexmarkSchemas#EVENT}, or some of them.
 */
@PublicEvolving
public final class NexmarkTableFactory implements DynamicTableSourceFactory {
  /** The name of the connector. */
  public static final String IDENTIFIER = "millrace-nexmark";

  /** How many events there are. */
  public static final ConfigOption<Long> EVENTS =
      ConfigOptions.key("events.num")
          .longType()
          .defaultValue(0L)
          .withDescription("How many events there are; 0 for events without end.");

  /** The rate of events. */
  public static final ConfigOption<Integer> RATE =
      ConfigOptions.key("first-event.rate")
          .intType()
          .defaultValue(10_000)
          .withDescription("The events of a second of event time.");

  /** The rate of events at the end, which is the same. */
  public static final ConfigOption<Integer> NEXT_RATE =
      ConfigOptions.key("next-event.rate")
          .intType()
          .noDefaultValue()
          .withDescription("Only as 'first-event.rate': the rate does not change.");

  /** Whether events come at their rate. */
  public static final ConfigOption<Boolean> IS_LIMITED =
      ConfigOptions.key("rate.limited")
          .booleanType()
          .defaultValue(false)
          .withDescription("Whether events come at this rate; as fast as possible otherwise.");

  @Override
  public String factoryIdentifier() {
    return IDENTIFIER;
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of();
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of(EVENTS, RATE, NEXT_RATE, IS_LIMITED, FactoryUtil.SOURCE_PARALLELISM);
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    TableOptions table = new TableOptions(this, context);
    table.validate();
    ReadableConfig options = table.options();
    Schema columns = TableColumns.physical(context);
    columns.fields().forEach(NexmarkTableFactory::check);
    return new NexmarkTableSource(
        columns,
        events(options),
        options.getOptional(FactoryUtil.SOURCE_PARALLELISM),
        BatchOptions.latency(context.getConfiguration().get(SqlOptions.BATCH_LATENCY)));
  }

  private static void check(Field column) {
    if (!NexmarkSchemas.EVENT.names().contains(column.name())) {
      throw new ValidationException(
          "expected columns of %s, got '%s'"
              .formatted(NexmarkSchemas.EVENT.names(), column.name()));
    }
    Field event = NexmarkSchemas.EVENT.field(NexmarkSchemas.EVENT.indexOf(column.name()));
    if (!TableColumns.haveOneForm(event.type(), column.type())
        || (event.nullable() && !column.nullable())) {
      throw new ValidationException(
          "expected %s for the column '%s', got %s".formatted(event, column.name(), column));
    }
  }

  private static NexmarkOptions events(ReadableConfig options) {
    int rate = options.get(RATE);
    long count = options.get(EVENTS);
    options
        .getOptional(NEXT_RATE)
        .filter(next -> next != rate)
        .ifPresent(
            next -> {
              throw new ValidationException(
                  "'%s' = '%d' is not supported, only the rate of '%s' is"
                      .formatted(NEXT_RATE.key(), next, RATE.key()));
            });
    if (rate < 1 || count < 0) {
      throw new ValidationException(
          "expected events at a rate above 0, got %d at %d a second".formatted(count, rate));
    }
    NexmarkConfiguration defaults = NexmarkConfiguration.DEFAULT;
    NexmarkConfiguration configuration =
        new NexmarkConfiguration(defaults.seed(), defaults.firstEventMillis(), rate);
    NexmarkOptions all = NexmarkOptions.of(count == 0 ? NexmarkOptions.UNBOUNDED : count);
    return new NexmarkOptions(
        configuration,
        all.count(),
        options.get(IS_LIMITED) ? rate : NexmarkOptions.UNLIMITED,
        all.batchRows());
  }
}
