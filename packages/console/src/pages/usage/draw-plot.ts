import uPlot from 'uplot';
import { formatShortDay } from '../../lib/format.ts';
import type { PlotArea, PlotStyle } from './plot-style.ts';
import type { Series } from './usage-data.ts';

export interface PlotColours {
  readonly text: string;
  readonly grid: string;
  /** The colour between two parts of a bar. */
  readonly gap: string;
  readonly series: readonly string[];
}

interface Plot {
  readonly style: PlotStyle;
  readonly days: readonly string[];
  readonly series: readonly Series[];
  /** A line is drawn before each of these days. */
  readonly marks: readonly number[];
  readonly colours: PlotColours;
  readonly font: string;
  readonly width: number;
  readonly height: number;
  /** Called when the bars' place is known, and when it changes. */
  readonly onArea: (area: PlotArea) => void;
}

/**
 * Sums from the first series up to each one; null if the series has nothing on that day. A bar of a sum is drawn below the
 * bars of the smaller sums.
 */
function sums(series: readonly Series[]): (number | null)[][] {
  const running: number[] = [];
  return series.map(({ values }) =>
    values.map((value, day) => {
      const sum = (running[day] ?? 0) + value;
      running[day] = sum;
      return value === 0 ? null : sum;
    }),
  );
}

/** Returns an empty text beside the days. */
function shortDayAt({ days, style: { formatSlotAxis = formatShortDay } }: Plot, index: number): string {
  const day = days[index];
  return day === undefined ? '' : formatSlotAxis(day);
}

const DAY_STEPS = [1, 2, 3, 7, 14, 28, 56, 112];
const HOUR_STEPS = [1, 2, 3, 6, 12, 24, 48, 96];

/** What is drawn of each series, in the order in which it is drawn. */
function toLayers({ series, colours, style }: Plot): {
  readonly values: readonly (number | null)[][];
  readonly layers: uPlot.Series[];
} {
  const points = { show: false };
  if (!style.isStacked) {
    const values = series.map((one) => one.values.map((value) => (value === 0 ? null : value)));
    const layers = series.map((_, index) => ({
      stroke: colours.series[index] ?? colours.text,
      width: 2,
      spanGaps: true,
      points: { show: true, size: 6 },
    }));
    return { values, layers };
  }
  const paths = uPlot.paths.bars?.({ size: [0.7, 48] });
  const values = sums(series).toReversed();
  const layers = values.map((_, index) => ({
    ...(paths === undefined ? {} : { paths }),
    fill: colours.series[series.length - 1 - index] ?? colours.text,
    stroke: colours.gap,
    width: series.length > 1 ? 1 : 0,
    points,
  }));
  return { values, layers };
}

/** Draws a dashed line at the beginning of each day that is marked. */
function drawMarks({ ctx, bbox, valToPos }: uPlot, marks: readonly number[], colour: string): void {
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = uPlot.pxRatio;
  ctx.setLineDash([4 * uPlot.pxRatio, 4 * uPlot.pxRatio]);
  for (const day of marks) {
    const x = Math.round(valToPos(day - 0.5, 'x', true));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** Makes a plot by day. The axes are the numbers of the days, because each day has the same width. */
export function drawPlot(element: HTMLElement, plot: Plot): uPlot {
  const { days, colours, font, width, height, onArea, style, marks } = plot;
  const axis = { stroke: colours.text, font, grid: { stroke: colours.grid, width: 1 }, ticks: { show: false } };
  const { values, layers } = toLayers(plot);
  return new uPlot(
    {
      width,
      height,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      hooks: {
        drawClear: [
          ({ bbox: { left, width } }) => onArea({ left: left / uPlot.pxRatio, width: width / uPlot.pxRatio }),
        ],
        draw: [(drawn) => drawMarks(drawn, marks, colours.text)],
      },
      scales: {
        x: { time: false, range: [-0.5, days.length - 0.5] },
        y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          space: 64,
          size: 32,
          incrs: style.formatSlot === undefined ? DAY_STEPS : HOUR_STEPS,
          values: (_, splits) => splits.map((split) => shortDayAt(plot, split)),
        },
        {
          ...axis,
          size: style.isStacked ? 48 : 64,
          values: (_, splits) => splits.map((split) => style.formatAxis(split)),
        },
      ],
      series: [{}, ...layers],
    },
    [days.map((_, index) => index), ...values],
    element,
  );
}
