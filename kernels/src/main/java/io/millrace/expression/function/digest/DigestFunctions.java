// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.digest;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Message digests as lower-case hexadecimal digits. */
@Internal
public final class DigestFunctions {
  private static final int LONGEST_DIGEST = 128;
  // Flink builds the algorithm name from the number: 1 gives SHA-1.
  private static final Map<Long, Algorithm> SHA2_BY_BITS =
      Map.of(
          1L, Algorithm.SHA1,
          224L, Algorithm.SHA224,
          256L, Algorithm.SHA256,
          384L, Algorithm.SHA384,
          512L, Algorithm.SHA512);

  private DigestFunctions() {}

  /** The digest algorithms by function name. */
  private enum Algorithm {
    MD5("MD5", 32),
    SHA1("SHA-1", 40),
    SHA224("SHA-224", 56),
    SHA256("SHA-256", 64),
    SHA384("SHA-384", 96),
    SHA512("SHA-512", 128);

    private final String javaName;
    private final int hexadecimalDigits;

    Algorithm(String javaName, int hexadecimalDigits) {
      this.javaName = javaName;
      this.hexadecimalDigits = hexadecimalDigits;
    }

    MessageDigest start() {
      try {
        return MessageDigest.getInstance(javaName);
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("expected every Java runtime to have " + javaName, e);
      }
    }
  }

  public static List<FunctionDefinition> definitions() {
    return Stream.concat(
            Stream.of(Algorithm.values()).map(DigestFunctions::definition),
            Stream.of(
                FunctionDefinition.named("SHA2")
                    .family(FunctionFamily.DIGEST)
                    .signatures(
                        Signature.of(
                            Signature.any(DataType.STRING),
                            Signature.literal(DataType.INT32, 224L, 256L, 384L, 512L)),
                        Signature.of(
                            Signature.any(DataType.BINARY),
                            Signature.literal(DataType.INT32, 256L)))
                    .description(
                        "The SHA-2 digest of 224, 256, 384 or 512 bits; another length fails.")
                    .bind(DigestFunctions::sha2)))
        .toList();
  }

  private static FunctionDefinition definition(Algorithm algorithm) {
    return FunctionDefinition.named(algorithm.name())
        .family(FunctionFamily.DIGEST)
        .signatures(Signature.of(DataType.STRING), Signature.of(DataType.BINARY))
        .description(
            "The "
                + algorithm.javaName
                + " digest of BINARY bytes or of the UTF-8 bytes of a string.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 1);
              return call(algorithm, arguments);
            });
  }

  private static TypedExpression call(Algorithm algorithm, List<TypedExpression> arguments) {
    Arguments.typed(arguments, 0, TypeId.STRING, TypeId.BINARY);
    return BoundFunction.named(algorithm.name())
        .host((operands, result, rows) -> digest(algorithm, operands, result, rows))
        .device(algorithm.name().toLowerCase(Locale.ROOT))
        .scratch(ResultSizeLimit.constant(algorithm.hexadecimalDigits))
        .call(arguments, DataType.STRING);
  }

  private static TypedExpression sha2(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 2, 2);
    Arguments.typed(arguments, 0, TypeId.STRING, TypeId.BINARY);
    Arguments.typed(arguments, 1, TypeId.INT8, TypeId.INT16, TypeId.INT32, TypeId.INT64);
    if (Arguments.literal(arguments, 1).isPresent()) {
      long bits = Arguments.literalInteger(arguments, 1);
      Algorithm algorithm = SHA2_BY_BITS.get(bits);
      if (algorithm == null || algorithm == Algorithm.SHA1) {
        throw new ExpressionException("expected 224, 256, 384 or 512 bits for SHA2, got " + bits);
      }
      return call(algorithm, arguments.subList(0, 1));
    }
    return BoundFunction.named("SHA2")
        .failing()
        .host(DigestFunctions::digestByBits)
        .device("sha2")
        .scratch(ResultSizeLimit.constant(LONGEST_DIGEST))
        .call(
            List.of(arguments.get(0), Coercion.cast(arguments.get(1), DataType.INT64, context)),
            DataType.STRING);
  }

  private static void digest(
      Algorithm algorithm, HostVector[] operands, HostVector result, Rows rows) {
    MessageDigest digest = algorithm.start();
    for (int i = 0; i < rows.count(); i++) {
      set(digest, operands[0], result, rows.position(i));
    }
  }

  private static void digestByBits(HostVector[] operands, HostVector result, Rows rows) {
    Map<Long, MessageDigest> digests = new HashMap<>();
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      long bits = operands[1].longs()[row];
      if (SHA2_BY_BITS.containsKey(bits)) {
        MessageDigest digest = digests.computeIfAbsent(bits, key -> SHA2_BY_BITS.get(key).start());
        set(digest, operands[0], result, row);
      } else {
        rows.fail(row, Status.INVALID_ARGUMENT);
      }
    }
  }

  private static void set(MessageDigest digest, HostVector messages, HostVector result, int row) {
    digest.update(HostMemory.byteBuffer(messages.address(row), messages.length(row)));
    result.setString(row, HexFormat.of().formatHex(digest.digest()));
  }
}
