// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Exporters and importers for tests of the C device interface; closed after each test. */
abstract class ArrowCDeviceTestCase {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  final BufferAllocator allocator = new RootAllocator();
  private final List<ArrowSchema> schemas = new ArrayList<>();

  // Closing the allocator fails if memory is still counted.
  @AfterEach
  final void closeSchemas() {
    for (ArrowSchema schema : schemas) {
      schema.release();
      schema.close();
    }
    allocator.close();
  }

  final ArrowCDeviceExporter exporter() {
    return new ArrowCDeviceExporter(allocator, device.hostStream(), device.hostMemory());
  }

  final ArrowCDeviceImporter importer() {
    return new ArrowCDeviceImporter(allocator, device.hostStream(), device.hostMemory());
  }

  /** An array that takes the table over. */
  final ArrowDeviceArray own(Table table) {
    return exporter().toArrowDevice(table, device.stream(), device.memory());
  }

  /** An array of the table, which the caller still owns. */
  final ArrowDeviceArray view(Table table) {
    return exporter().viewToArrowDevice(table, device.stream(), device.memory());
  }

  final ArrowSchema schema(Schema schema) {
    return closedAfterwards(exporter().toArrowSchema(schema));
  }

  final ArrowSchema closedAfterwards(ArrowSchema schema) {
    schemas.add(schema);
    return schema;
  }

  final Table fromArrowDevice(Schema schema, ArrowDeviceArray array) throws ArrowFormatException {
    return importer().fromArrowDevice(schema(schema), array, device.stream(), device.memory());
  }

  final ArrowDeviceType deviceType() {
    return device.isCuda() ? ArrowDeviceType.CUDA : ArrowDeviceType.CPU;
  }
}
