// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.arrow.ArrowNode;
import io.millrace.device.DeviceKind;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;

/** Arrow's vectors as an array in the memory of the test's device: layouts that no table has. */
final class UploadedVectors {
  private final DictionaryProvider dictionaries;
  private final DeviceExtension device;
  private final AccessScope scope;
  private final List<Buffer> buffers = new ArrayList<>();

  private UploadedVectors(
      DictionaryProvider dictionaries, DeviceExtension device, AccessScope scope) {
    this.dictionaries = dictionaries;
    this.device = device;
    this.scope = scope;
  }

  /** The array of a copy of {@code root}; the caller closes it. */
  static ArrowDeviceArray of(
      VectorSchemaRoot root, DictionaryProvider dictionaries, DeviceExtension device) {
    ArrowDeviceArray target = ArrowDeviceArray.allocate();
    try (AccessScope scope = AccessScope.on(device.stream())) {
      UploadedVectors upload = new UploadedVectors(dictionaries, device, scope);
      List<ExportedArray> columns = root.getFieldVectors().stream().map(upload::array).toList();
      boolean isHost = device.device().kind() == DeviceKind.HOST;
      target.putDevice(
          isHost ? ArrowDeviceType.CPU : ArrowDeviceType.CUDA, device.device().index(), 0);
      ExportedArray.table(root.getRowCount(), columns)
          .export(target.address(), () -> upload.buffers.forEach(Buffer::close));
    }
    device.stream().synchronize();
    return target;
  }

  private ExportedArray array(FieldVector vector) {
    List<Long> addresses = new ArrayList<>();
    for (ArrowBuf buffer : vector.getFieldBuffers()) {
      addresses.add(upload(buffer));
    }
    return new ExportedArray(
        ArrowNode.of(vector.getValueCount(), vector.getNullCount()),
        addresses,
        vector.getChildrenFromFields().stream().map(this::array).toList(),
        vector.getField().getDictionary() == null
            ? null
            : array(dictionaries.lookup(vector.getField().getDictionary().getId()).getVector()));
  }

  private long upload(ArrowBuf source) {
    Buffer copy =
        Buffer.copyOf(source.memoryAddress(), source.capacity(), device.stream(), device.memory());
    buffers.add(copy);
    return copy.expose(scope);
  }
}
