// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.KernelModule;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CudaStringMovesTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void argumentsHaveTheFieldsAndSizesOfTheKernels() {
    CudaStructures cuda = CudaStructures.ofSources();
    assertThat(CudaStringColumn.Arguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("StateStringValuesArguments").fields());
    assertThat(CudaStringMoves.Arguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("StateMovesArguments").fields());
    assertThat(CudaStringMoves.FillArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("StateFillArguments").fields());
    if (device.isCuda()) {
      KernelModule strings = device.device().loadModule("state_value_strings");
      assertThat(strings.constant("sizeof_StateStringValuesArguments"))
          .isEqualTo(CudaStringColumn.Arguments.LAYOUT.bytes());
      KernelModule moves = device.device().loadModule("state_moves");
      assertThat(moves.constant("sizeof_StringMove")).isEqualTo(StringMoves.BYTES);
      assertThat(moves.constant("sizeof_StringPiece")).isEqualTo(StringMoves.PIECE_BYTES);
      assertThat(moves.constant("sizeof_StateMovesArguments"))
          .isEqualTo(CudaStringMoves.Arguments.LAYOUT.bytes());
      assertThat(moves.constant("sizeof_StateFillArguments"))
          .isEqualTo(CudaStringMoves.FillArguments.LAYOUT.bytes());
    }
  }
}
