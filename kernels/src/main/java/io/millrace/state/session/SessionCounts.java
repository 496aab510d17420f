// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.session;

import io.millrace.annotation.PublicEvolving;
import io.millrace.state.row.StateSelection;

/**
 * What a pass over the rows of a table found.
 *
 * @param selected the rows that were selected
 * @param others rows whose last time has passed as well, but which were not selected
 * @param nextTime the least last time of the open sessions; {@link Long#MAX_VALUE} if there is none
 */
@PublicEvolving
public record SessionCounts(StateSelection.Counts selected, int others, long nextTime) {}
