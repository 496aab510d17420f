// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import jcuda.nvptxcompiler.JNvPTXCompiler;
import jcuda.nvptxcompiler.nvPTXCompileResult;
import jcuda.nvptxcompiler.nvPTXCompilerHandle;

/** Assembles PTX to machine code, without a GPU or a CUDA toolkit. */
public final class PtxAssembler {
  /** The oldest GPU that is supported, and the H200. */
  private static final List<String> ARCHITECTURES = List.of("sm_80", "sm_90");

  // JCuda's assembler knows PTX 8.0. nvcc 13 writes 9.0, of which code for sm_80 uses nothing.
  private static final Pattern VERSION = Pattern.compile("(?m)^\\.version \\d+\\.\\d+$");
  private static final String KNOWN_VERSION = ".version 8.0";

  private PtxAssembler() {}

  /** The assembler's errors for a module; empty if the module assembles for each architecture. */
  public static String errors(String ptx) {
    return ARCHITECTURES.stream()
        .map(architecture -> errors(ptx, architecture))
        .collect(Collectors.joining());
  }

  /**
   * As {@link #errors(String)}, for one of the architectures, which depends on the text of the
   * module: tests generate hundreds of modules, and assembling takes most of their time.
   */
  public static String errorsForOneArchitecture(String ptx) {
    int architecture = Math.floorMod(ptx.hashCode(), ARCHITECTURES.size());
    return errors(ptx, ARCHITECTURES.get(architecture));
  }

  private static String errors(String module, String architecture) {
    Matcher version = VERSION.matcher(module);
    assertThat(version.find()).as("a version in the PTX").isTrue();
    byte[] ptx = version.replaceFirst(KNOWN_VERSION).getBytes(StandardCharsets.US_ASCII);
    JNvPTXCompiler.setExceptionsEnabled(false);
    nvPTXCompilerHandle compiler = new nvPTXCompilerHandle();
    assertThat(JNvPTXCompiler.nvPTXCompilerCreate(compiler, ptx.length, ptx)).isZero();
    try {
      int result =
          JNvPTXCompiler.nvPTXCompilerCompile(
              compiler, 1, new String[] {"--gpu-name=" + architecture});
      return result == nvPTXCompileResult.NVPTXCOMPILE_SUCCESS
          ? ""
          : nvPTXCompileResult.stringFor(result) + ": " + log(compiler);
    } finally {
      JNvPTXCompiler.nvPTXCompilerDestroy(compiler);
    }
  }

  private static String log(nvPTXCompilerHandle compiler) {
    long[] size = new long[1];
    JNvPTXCompiler.nvPTXCompilerGetErrorLogSize(compiler, size);
    byte[] log = new byte[Math.toIntExact(size[0]) + 1];
    JNvPTXCompiler.nvPTXCompilerGetErrorLog(compiler, log);
    return new String(log, StandardCharsets.US_ASCII).replace("\0", "");
  }
}
