// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Host implementations of Base64, character sets, URLs, JSON strings and IPv4 addresses. */
final class StringEncodings {
  private static final Pattern BYTE = Pattern.compile("0*(25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})");

  private StringEncodings() {}

  static void toBase64(HostVector[] operands, HostVector result, int row) {
    result.setBytes(row, Base64.getEncoder().encode(operands[0].getBytes(row)));
  }

  static void fromBase64(HostVector[] operands, HostVector result, int row, Rows rows) {
    try {
      result.setBytes(row, Base64.getDecoder().decode(operands[0].getBytes(row)));
    } catch (IllegalArgumentException e) {
      rows.fail(row, Status.INVALID_ARGUMENT);
    }
  }

  static void urlEncode(HostVector[] operands, HostVector result, int row) {
    result.setString(row, URLEncoder.encode(operands[0].getString(row), StandardCharsets.UTF_8));
  }

  static void urlDecode(HostVector[] operands, HostVector result, int row) {
    try {
      result.setString(row, URLDecoder.decode(operands[0].getString(row), StandardCharsets.UTF_8));
    } catch (IllegalArgumentException e) {
      result.setNull(row);
    }
  }

  /** {@code ENCODE(text, character set)}. */
  static void encode(HostVector[] operands, HostVector result, int row, Rows rows) {
    Optional<Charset> charset = charset(operands[1].getString(row));
    if (charset.isPresent() && charset.get().canEncode()) {
      result.setBytes(row, operands[0].getString(row).getBytes(charset.get()));
    } else {
      rows.fail(row, Status.INVALID_ARGUMENT);
    }
  }

  /** {@code DECODE(bytes, character set)}. */
  static void decode(HostVector[] operands, HostVector result, int row, Rows rows) {
    Optional<Charset> charset = charset(operands[1].getString(row));
    if (charset.isPresent()) {
      result.setString(row, new String(operands[0].getBytes(row), charset.get()));
    } else {
      rows.fail(row, Status.INVALID_ARGUMENT);
    }
  }

  private static Optional<Charset> charset(String name) {
    try {
      return Optional.of(Charset.forName(name));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** {@code PARSE_URL(url, part)}; an optional third operand is the name of a query parameter. */
  static void parseUrl(HostVector[] operands, HostVector result, int row) {
    String part = operands[1].getString(row);
    String found =
        operands.length == 2
            ? partOf(operands[0].getString(row), part)
            : part.equals("QUERY")
                ? parameterOf(partOf(operands[0].getString(row), part), operands[2].getString(row))
                : null;
    if (found == null) {
      result.setNull(row);
    } else {
      result.setString(row, found);
    }
  }

  private static String partOf(String text, String part) {
    try {
      URL url = new URL(text);
      return switch (part) {
        case "HOST" -> url.getHost();
        case "PATH" -> url.getPath();
        case "QUERY" -> url.getQuery();
        case "REF" -> url.getRef();
        case "PROTOCOL" -> url.getProtocol();
        case "FILE" -> url.getFile();
        case "AUTHORITY" -> url.getAuthority();
        case "USERINFO" -> url.getUserInfo();
        default -> null;
      };
    } catch (MalformedURLException e) {
      return null;
    }
  }

  private static String parameterOf(String query, String name) {
    if (query == null) {
      return null;
    }
    Matcher parameter =
        Pattern.compile("(?:&|^)" + Pattern.quote(name) + "=([^&]*)").matcher(query);
    return parameter.find() ? parameter.group(1) : null;
  }

  /** The string in quotes, with the escapes of JSON for all that is not plain ASCII. */
  static void jsonQuote(HostVector[] operands, HostVector result, int row) {
    String text = operands[0].getString(row);
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      // As in Flink, a low surrogate is escaped again after the code point that it belongs to.
      appendEscaped(quoted, text.codePointAt(i));
    }
    result.setString(row, quoted.append('"').toString());
  }

  private static void appendEscaped(StringBuilder quoted, int codePoint) {
    switch (codePoint) {
      case '"', '\\', '/' -> quoted.append('\\').append((char) codePoint);
      case '\b' -> quoted.append("\\b");
      case '\t' -> quoted.append("\\t");
      case '\n' -> quoted.append("\\n");
      case '\f' -> quoted.append("\\f");
      case '\r' -> quoted.append("\\r");
      default -> {
        if (codePoint < 0x80) {
          quoted.append((char) codePoint);
        } else {
          String digits = Integer.toHexString(codePoint);
          quoted.append("\\u").append("0".repeat(Math.max(0, 4 - digits.length()))).append(digits);
        }
      }
    }
  }

  /** The number of an IPv4 address; missing parts are 0. */
  static void inetAton(HostVector[] operands, HostVector result, int row) {
    String[] parts = operands[0].getString(row).split("\\.", -1);
    if (parts.length > 4 || !Arrays.stream(parts).allMatch(StringEncodings::isByte)) {
      result.setNull(row);
      return;
    }
    long[] bytes = Arrays.stream(parts).mapToLong(Long::parseLong).toArray();
    result.longs()[row] =
        switch (bytes.length) {
          case 1 -> bytes[0];
          case 2 -> bytes[0] << 24 | bytes[1];
          case 3 -> bytes[0] << 24 | bytes[1] << 16 | bytes[2];
          default -> bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
        };
  }

  private static boolean isByte(String part) {
    return BYTE.matcher(part).matches();
  }

  /** The IPv4 address of a number. */
  static void inetNtoa(HostVector[] operands, HostVector result, int row) {
    long number = operands[0].longs()[row];
    if (number < 0 || number > 0xffff_ffffL) {
      result.setNull(row);
    } else {
      result.setString(
          row,
          (number >> 24)
              + "."
              + (number >> 16 & 0xff)
              + "."
              + (number >> 8 & 0xff)
              + "."
              + (number & 0xff));
    }
  }
}
