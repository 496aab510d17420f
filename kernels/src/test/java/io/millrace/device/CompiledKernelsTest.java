package io.millrace.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import jcuda.nvptxcompiler.JNvPTXCompiler;
import jcuda.nvptxcompiler.nvPTXCompileResult;
import jcuda.nvptxcompiler.nvPTXCompilerHandle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Assembles the PTX that is checked in, without a GPU or a CUDA toolkit, for the oldest GPU that is
 * supported and for the H200.
 */
class CompiledKernelsTest {
  // JCuda's assembler knows PTX 8.0. nvcc 13 writes 9.0, of which code for sm_80 uses nothing.
  private static final Pattern VERSION = Pattern.compile("(?m)^\\.version \\d+\\.\\d+$");
  private static final String KNOWN_VERSION = ".version 8.0";

  static List<Path> modules() throws IOException, URISyntaxException {
    URL folder = CudaKernelModule.class.getResource("/io/millrace/cuda");
    try (Stream<Path> files = Files.list(Path.of(folder.toURI()))) {
      return files.filter(file -> file.toString().endsWith(".ptx")).sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("modules")
  void assembles(Path module) throws IOException {
    String ptx = Files.readString(module, StandardCharsets.US_ASCII);
    Matcher version = VERSION.matcher(ptx);
    assertThat(version.find()).as("a version in %s", module).isTrue();
    byte[] known = version.replaceFirst(KNOWN_VERSION).getBytes(StandardCharsets.US_ASCII);

    assertThat(errors(known, "sm_80")).isEmpty();
    assertThat(errors(known, "sm_90")).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("modules")
  void namesNoFolderOfTheMachineThatCompiledIt(Path module) throws IOException {
    String ptx = Files.readString(module, StandardCharsets.US_ASCII);

    assertThat(ptx).doesNotContain(System.getProperty("user.dir"), "/tmp/", "/home/");
    assertThat(ptx).doesNotContainPattern("(_INTERNAL_|_GLOBAL__N__)(?!00000000)[0-9a-f]{8}_");
  }

  private static String errors(byte[] ptx, String architecture) {
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
