// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.sql.SqlScript.Part;
import org.junit.jupiter.api.Test;

class SqlScriptTest {
  @Test
  void semicolonsInQuotesAndCommentsEndNoStatement() {
    assertThat(
            SqlScript.parts(
                """
                -- first; comment
                SET 'a' = 'x;y';  /* second;
                comment */ SELECT `a;b` /*+ hint; */
                  FROM "t;" -- it's the end;
                ;
                ;SELECT 'it''s'"""))
        .containsExactly(
            new Part(2, "SET 'a' = 'x;y';"),
            new Part(3, "SELECT `a;b` /*+ hint; */\n  FROM \"t;\" -- it's the end;\n;"),
            new Part(6, "SELECT 'it''s'"));
  }

  @Test
  void aScriptOfBlanksHasNoPart() {
    assertThat(SqlScript.parts("")).isEmpty();
    assertThat(SqlScript.parts(" \n-- comment")).isEmpty();
    assertThat(SqlScript.parts("/* open")).isEmpty();
  }

  @Test
  void anOpenQuoteGoesToTheEnd() {
    assertThat(SqlScript.parts("SELECT 'a; b;")).containsExactly(new Part(1, "SELECT 'a; b;"));
  }

  @Test
  void aScriptMayEndWithinQuotesOrAComment() {
    for (String open : new String[] {"SELECT 'a; b;", "SELECT 1; /* b", "SELECT `a;", "/*"}) {
      assertThat(SqlScript.endsWithinQuotes(open)).as(open).isTrue();
    }
    for (String closed : new String[] {"SELECT 'it''s'; -- it's", "/* ' */ SELECT 1", ""}) {
      assertThat(SqlScript.endsWithinQuotes(closed)).as(closed).isFalse();
    }
  }
}
