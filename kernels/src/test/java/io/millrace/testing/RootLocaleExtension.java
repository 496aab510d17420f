// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import java.util.Locale;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs the tests of a class in the root locale, in place of the odd one that tests have by default,
 * where code of others that they compare with depends on the locale.
 */
public final class RootLocaleExtension implements BeforeAllCallback, AfterAllCallback {
  private Locale before;

  @Override
  public void beforeAll(ExtensionContext context) {
    before = Locale.getDefault();
    Locale.setDefault(Locale.ROOT);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    Locale.setDefault(before);
  }
}
