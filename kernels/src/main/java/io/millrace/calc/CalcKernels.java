// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.device.Device;
import io.millrace.expression.ptx.PtxLibrary;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.InputPath;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.memory.FirstFailure;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The generated kernels of one calc. Each is compiled once per process: a calc with an equal
 * kernel, for example after a restart of its job, reuses it without generating it again. A calc
 * holds the kernels that it ran until it is closed. The {@value #MAX_IDLE} most recently used
 * kernels without a holder stay loaded.
 */
final class CalcKernels implements AutoCloseable {
  // Maximum number of kernel arguments.
  private static final int MAX_WORDS = 512;
  private static final int MAX_IDLE = 256;
  // Assembly time grows with the square of the code size, and faster beyond this limit. A
  // comparison with a constant is two parts, a LIKE is one. On one server core, 2500 parts take 2 s
  // for comparisons and about 17 s for LIKE and decimals (docs/benchmarks/2026-11-22-mend.md).
  private static final int MAX_PARTS = 2_500;
  private static final ReferenceCountedCache<Key, CalcKernel> COMPILED =
      new ReferenceCountedCache<>(MAX_IDLE, CalcKernel::close);

  private record Variant(Device device, boolean hasMasks) {}

  private record Key(Variant variant, KernelIdentity identity) {}

  private record Held(Key key, CalcKernel kernel) {}

  private final TypedExpression condition;
  private final List<TypedExpression> projections;
  private final Collection<String> ptxSources;
  private final List<TypedExpression> roots;
  private final CalcTables tables;
  private final List<String> hostReasons;
  private final boolean isTooLarge;
  private final Map<Variant, Held> held = new ConcurrentHashMap<>();

  /**
   * @param condition null for no filter
   * @param ptxSources PTX of device functions outside the built-in library
   */
  CalcKernels(
      TypedExpression condition, List<TypedExpression> projections, Collection<String> ptxSources) {
    this.condition = condition;
    this.projections = projections;
    this.ptxSources = ptxSources;
    this.roots = Stream.concat(Stream.ofNullable(condition), projections.stream()).toList();
    Set<TypedExpression> nodes = TypedExpression.nodes(roots);
    this.tables = new CalcTables(nodes);
    List<String> sizeReasons = findSizeReasons(nodes);
    this.hostReasons = Stream.concat(findHostParts(nodes), sizeReasons.stream()).toList();
    this.isTooLarge = !sizeReasons.isEmpty();
  }

  private static Stream<String> findHostParts(Set<TypedExpression> nodes) {
    Stream<String> functions =
        nodes.stream()
            .flatMap(node -> node.calledFunction().stream())
            .filter(function -> function.device().isEmpty())
            .map(function -> function.name() + ": " + function.hostReason())
            .distinct();
    Stream<String> nested =
        nodes.stream()
            .filter(CalcKernels::isComputedNested)
            .map(node -> "values of " + node.type() + " are computed")
            .distinct();
    return Stream.concat(functions, nested);
  }

  private List<String> findSizeReasons(Set<TypedExpression> nodes) {
    Stream<String> words =
        words(nodes) > MAX_WORDS
            ? Stream.of("the calc reads and computes too many columns")
            : Stream.empty();
    Stream<String> parts =
        nodes.size() > MAX_PARTS
            ? Stream.of("compiling a kernel of more than " + MAX_PARTS + " parts takes too long")
            : Stream.empty();
    return Stream.concat(words, parts).toList();
  }

  /** Whether no kernel can compute {@code node} itself, whatever its operands are. */
  static boolean needsHost(TypedExpression node) {
    return isComputedNested(node)
        || node.calledFunction().filter(function -> function.device().isEmpty()).isPresent();
  }

  // Kernels read fields of the input only.
  private static boolean isComputedNested(TypedExpression node) {
    return !node.type().id().isScalar()
        && InputPath.of(node).isEmpty()
        && node.calledFunction().isEmpty();
  }

  /** An upper bound on the number of kernel arguments. */
  private long words(Set<TypedExpression> nodes) {
    long inputs = nodes.stream().filter(node -> InputPath.of(node).isPresent()).count();
    long scratches =
        nodes.stream()
            .flatMap(node -> node.calledFunction().stream())
            .filter(BoundFunction::usesScratch)
            .count();
    return CalcProgram.Word.COUNT
        + CalcTables.calls(nodes).size()
        + inputs * CalcProgram.INPUT_WORDS
        + (long) projections.size() * CalcProgram.OUTPUT_WORDS
        + scratches;
  }

  /** Reasons why no kernel evaluates the whole calc; empty if one can. */
  List<String> hostReasons() {
    return hostReasons;
  }

  /** Whether the calc is too large for a kernel. */
  boolean isTooLarge() {
    return isTooLarge;
  }

  /**
   * Returns the program of the calc; requires empty {@link #hostReasons}.
   *
   * @param hasMasks whether input columns may have masks
   */
  CalcProgram program(boolean hasMasks) {
    return CalcProgramWriter.write(condition, projections, hasMasks, PtxLibrary.with(ptxSources));
  }

  /** The constant tables of the calc. */
  CalcTables tables() {
    return tables;
  }

  /**
   * Returns the kernel for tables on {@code device}. It stays loaded until this object is closed,
   * and is compiled by the first call in the process.
   *
   * @param hasMasks whether input columns may have masks
   */
  CalcKernel on(Device device, boolean hasMasks) {
    return held.computeIfAbsent(new Variant(device, hasMasks), this::acquire).kernel();
  }

  private Held acquire(Variant variant) {
    Key key = new Key(variant, KernelIdentity.of(condition != null, roots, ptxSources));
    return new Held(
        key,
        COMPILED.acquire(key, () -> new CalcKernel(program(variant.hasMasks()), variant.device())));
  }

  /**
   * Releases the kernels and the memory of the tables. All runs must have completed on their
   * devices.
   */
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    for (Held kernel : List.copyOf(held.values())) {
      if (held.values().remove(kernel)) {
        failure.run(() -> COMPILED.release(kernel.key()));
      }
    }
    failure.run(tables::close);
    failure.rethrow();
  }
}
