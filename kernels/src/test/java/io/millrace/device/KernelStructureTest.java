// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class KernelStructureTest {
  private final KernelStructure structure = new KernelStructure("Example");

  @Test
  void fieldsFollowEachOther() {
    KernelStructure element = new KernelStructure("Element");
    KernelStructure.Int64 value = element.int64("value");
    KernelStructure.Int32 width = element.int32("width");
    element.int32("reserved");
    KernelStructure.Int64 rows = structure.int64("rows");
    KernelStructure.Array elements = structure.array("elements", element, 3);
    assertThat(value.offset()).isZero();
    assertThat(width.offset()).isEqualTo(8);
    assertThat(rows.offset()).isZero();
    assertThat(elements.at(0)).isEqualTo(8);
    assertThat(elements.at(2)).isEqualTo(40);
    assertThat(structure.bytes()).isEqualTo(56);
    assertThat(structure.fields())
        .containsExactly(
            new KernelStructure.Field("rows", "int64", 0, 8),
            new KernelStructure.Field("elements", "Element", 8, 48));
  }

  @Test
  void paddingIsRefused() {
    structure.int32("width");
    assertThatThrownBy(() -> structure.int64("rows"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the compiler pads before 'rows' of Example, at offset 4");
    KernelStructure odd = new KernelStructure("Odd");
    odd.int64("rows");
    odd.int32("width");
    assertThatThrownBy(odd::bytes)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the compiler pads Odd at the end, after 12 bytes");
  }

  @Test
  void elementsOutsideAnArrayAreRefused() {
    KernelStructure element = new KernelStructure("Element");
    element.int32("width");
    KernelStructure.Array elements = structure.array("elements", element, 2);
    assertThatThrownBy(() -> elements.at(2))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessage("element 2 of 2");
  }
}
