// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.soak;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;

/**
 * Draws what a soak test wrote: a panel for each column behind the first one, over the seconds,
 * which are the first column. The first line has the names. Arguments: the CSV file, the PNG file.
 */
public final class SoakPlot {
  private static final int WIDTH = 900;
  private static final int PANEL = 96;
  private static final int LEFT = 110;
  private static final int RIGHT = 20;
  private static final int GAP = 30;
  private static final String BYTES = " bytes";
  private static final Color LINE = new Color(0x1f, 0x77, 0xb4);
  private static final Color GRID = new Color(0xdd, 0xdd, 0xdd);

  /** A column of the CSV file and how it is drawn. */
  private record Panel(int column, String title, double unit) {
    /** Bytes are drawn in MiB, all else as it is. */
    static Panel of(int column, String name) {
      return name.endsWith(BYTES)
          ? new Panel(column, name.replace(BYTES, " (MiB)"), 1 << 20)
          : new Panel(column, name, 1);
    }
  }

  private final List<Panel> panels;
  private final double[][] samples;
  private final Graphics2D graphics;

  private SoakPlot(List<Panel> panels, double[][] samples, Graphics2D graphics) {
    this.panels = panels;
    this.samples = samples;
    this.graphics = graphics;
  }

  /** Draws the file named first into the file named second. */
  public static void main(String[] arguments) throws IOException {
    List<String> lines = Files.readAllLines(Path.of(arguments[0]));
    List<String> names = List.of(lines.get(0).split(",", -1));
    List<Panel> panels =
        IntStream.range(1, names.size()).mapToObj(i -> Panel.of(i, names.get(i))).toList();
    double[][] samples =
        lines.stream()
            .skip(1)
            .map(line -> Arrays.stream(line.split(",")).mapToDouble(Double::parseDouble).toArray())
            .toArray(double[][]::new);
    int height = panels.size() * (PANEL + GAP) + GAP;
    BufferedImage image = new BufferedImage(WIDTH, height, BufferedImage.TYPE_BYTE_INDEXED);
    Graphics2D graphics = image.createGraphics();
    graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    graphics.setColor(Color.WHITE);
    graphics.fillRect(0, 0, WIDTH, height);
    graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, 13));
    new SoakPlot(panels, samples, graphics).draw();
    graphics.dispose();
    ImageIO.write(image, "png", Path.of(arguments[1]).toFile());
  }

  private void draw() {
    int top = GAP;
    for (Panel panel : panels) {
      draw(panel, top);
      top += PANEL + GAP;
    }
    graphics.drawString("0 s", LEFT, top - GAP + 18);
    String end = String.format(Locale.ROOT, "%.0f s", samples[samples.length - 1][0]);
    graphics.drawString(end, WIDTH - RIGHT - 40, top - GAP + 18);
  }

  private void draw(Panel panel, int top) {
    double most = 0;
    for (double[] sample : samples) {
      most = Math.max(most, sample[panel.column] / panel.unit);
    }
    double scale = most == 0 ? 1 : most * 1.1;
    graphics.setColor(GRID);
    graphics.drawRect(LEFT, top, WIDTH - LEFT - RIGHT, PANEL);
    graphics.setColor(Color.BLACK);
    graphics.drawString(panel.title, LEFT, top - 6);
    graphics.drawString(String.format(Locale.ROOT, "%.1f", scale), 40, top + 10);
    graphics.drawString("0", 40, top + PANEL);
    graphics.setColor(LINE);
    graphics.setStroke(new BasicStroke(1.5f));
    int[] x = new int[samples.length];
    int[] y = new int[samples.length];
    double seconds = samples[samples.length - 1][0];
    for (int i = 0; i < samples.length; i++) {
      x[i] = (int) (LEFT + samples[i][0] / seconds * (WIDTH - LEFT - RIGHT));
      y[i] = (int) (top + PANEL * (1 - samples[i][panel.column] / panel.unit / scale));
    }
    graphics.drawPolyline(x, y, samples.length);
    graphics.setStroke(new BasicStroke(1));
    graphics.setColor(Color.BLACK);
  }
}
