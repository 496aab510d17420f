// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.spilling;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;

/**
 * Draws what {@link SpillThroughputBenchmark} printed: throughput against live bytes over the
 * device limit, once with host memory for all that is spilled and once with the disk tier too.
 * Arguments: the CSV file, the PNG file.
 */
public final class SpillThroughputPlot {
  private static final int WIDTH = 900;
  private static final int HEIGHT = 460;
  private static final int MARGIN = 70;
  private static final double MAX_RATIO = 8.5;
  private static final int GRID_LINES = 5;
  private static final Color HOST = new Color(0x1f, 0x77, 0xb4);
  private static final Color DISK = new Color(0xd6, 0x27, 0x28);
  private static final Color GRID = new Color(0xdd, 0xdd, 0xdd);

  private record Point(double ratio, String hostLimit, double gigabytes) {
    static Point parse(String line) {
      String[] cells = line.split(",", -1);
      return new Point(Double.parseDouble(cells[0]), cells[1], Double.parseDouble(cells[7]) / 1e9);
    }
  }

  private final List<Point> points;
  private final double top;
  private final Graphics2D graphics;

  private SpillThroughputPlot(List<Point> points, Graphics2D graphics) {
    this.points = points;
    double most = points.stream().mapToDouble(Point::gigabytes).max().orElseThrow();
    double unit = Math.pow(10, Math.floor(Math.log10(most)));
    this.top = Math.ceil(most / unit) * unit;
    this.graphics = graphics;
  }

  /** Draws the file named first into the file named second. */
  public static void main(String[] arguments) throws IOException {
    List<Point> points =
        Files.readAllLines(Path.of(arguments[0])).stream()
            .filter(line -> line.matches("[0-9.]+,.*"))
            .map(Point::parse)
            .toList();
    BufferedImage image = new BufferedImage(WIDTH, HEIGHT + 2 * MARGIN, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    new SpillThroughputPlot(points, graphics).draw(image.getHeight());
    graphics.dispose();
    ImageIO.write(image, "png", Path.of(arguments[1]).toFile());
  }

  private void draw(int height) {
    graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    graphics.setColor(Color.WHITE);
    graphics.fillRect(0, 0, WIDTH, height);
    graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, 13));
    axes(height);
    line("none", HOST);
    line("half", DISK);
  }

  private void axes(int height) {
    for (int i = 0; i <= GRID_LINES; i++) {
      double gigabytes = top * i / GRID_LINES;
      graphics.setColor(GRID);
      graphics.drawLine(x(0), y(gigabytes), x(MAX_RATIO), y(gigabytes));
      graphics.setColor(Color.BLACK);
      graphics.drawString(String.format(Locale.ROOT, "%.2f", gigabytes), 25, y(gigabytes) + 5);
    }
    for (int ratio = 0; ratio <= MAX_RATIO; ratio++) {
      graphics.drawString(Integer.toString(ratio), x(ratio) - 4, y(0) + 20);
    }
    graphics.drawRect(x(0), y(top), x(MAX_RATIO) - x(0), y(0) - y(top));
    graphics.drawString("GB/s of the job; ratio 0: no limit", MARGIN, MARGIN - 40);
    graphics.drawString("live bytes / device limit", WIDTH / 2 - 70, height - MARGIN / 3);
    graphics.setColor(HOST);
    graphics.drawString("host memory for all that is spilled", MARGIN, MARGIN - 18);
    graphics.setColor(DISK);
    graphics.drawString(
        "host memory for half of the live bytes, then disk", WIDTH / 2, MARGIN - 18);
  }

  private void line(String hostLimit, Color color) {
    graphics.setColor(color);
    graphics.setStroke(new BasicStroke(2));
    List<Point> line =
        points.stream()
            .filter(point -> point.hostLimit().equals(hostLimit) || point.ratio() == 0)
            .toList();
    for (int i = 0; i < line.size(); i++) {
      Point to = line.get(i);
      graphics.fillOval(x(to.ratio()) - 4, y(to.gigabytes()) - 4, 8, 8);
      if (i > 0) {
        Point from = line.get(i - 1);
        graphics.drawLine(x(from.ratio()), y(from.gigabytes()), x(to.ratio()), y(to.gigabytes()));
      }
    }
    graphics.setStroke(new BasicStroke(1));
  }

  private int x(double ratio) {
    return (int) (MARGIN + ratio / MAX_RATIO * (WIDTH - 2 * MARGIN));
  }

  private int y(double gigabytes) {
    return (int) (MARGIN + HEIGHT * (1 - gigabytes / top));
  }
}
