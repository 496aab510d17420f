// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import io.millrace.connectors.nexmark.NexmarkConfiguration;
import io.millrace.connectors.nexmark.NexmarkGenerator;
import io.millrace.connectors.nexmark.NexmarkSchemas;
import io.millrace.operators.row.SchemaConverter;
import java.util.Set;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;

/** The connector {@code nexmark-events}: a number of Nexmark's events, as rows of nested ROWs. */
public final class NexmarkEvents implements DynamicTableSourceFactory {
  private static final ConfigOption<Long> COUNT =
      ConfigOptions.key("count").longType().noDefaultValue();

  /** The columns of the table, as Nexmark's SQL declares them. */
  static String columns() {
    return SchemaConverter.toRowType(NexmarkSchemas.EVENT).getFields().stream()
        .map(field -> "`" + field.getName() + "` " + field.getType().asSerializableString())
        .collect(java.util.stream.Collectors.joining(", "));
  }

  @Override
  public String factoryIdentifier() {
    return "nexmark-events";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(COUNT);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of();
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validate();
    return new Events(helper.getOptions().get(COUNT));
  }

  private record Events(long count) implements ScanTableSource {
    @Override
    public ChangelogMode getChangelogMode() {
      return ChangelogMode.insertOnly();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
      RowType type = SchemaConverter.toRowType(NexmarkSchemas.EVENT);
      return SourceProvider.of(
          new DataGeneratorSource<>(new Generate(), count, InternalTypeInfo.of(type)));
    }

    @Override
    public DynamicTableSource copy() {
      return this;
    }

    @Override
    public String asSummaryString() {
      return "Nexmark's events";
    }
  }

  private static final class Generate implements GeneratorFunction<Long, RowData> {
    private static final long serialVersionUID = 1L;
    private transient NexmarkGenerator generator;

    @Override
    public void open(SourceReaderContext context) {
      generator = new NexmarkGenerator(NexmarkConfiguration.DEFAULT);
    }

    @Override
    public RowData map(Long event) {
      return NexmarkSchemas.eventRow(generator, event);
    }
  }
}
