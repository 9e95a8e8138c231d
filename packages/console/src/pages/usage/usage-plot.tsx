import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { onColours } from '../../app/theme.ts';
import { formatCompact, formatNumber } from '../../lib/format.ts';
import { DayValues, dayText } from './day-values.tsx';
import { drawPlot, type PlotColours } from './draw-plot.ts';
import type { PlotArea, PlotStyle } from './plot-style.ts';
import type { Series } from './usage-data.ts';
import { UsageLegend } from './usage-legend.tsx';
import './usage.css';

interface UsagePlotProps {
  /** For screen readers. The table below has the same data. */
  readonly label: string;
  readonly days: readonly string[];
  readonly series: readonly Series[];
  readonly getName: (series: Series) => string;
  /** Stacked bars of numbers unless it is given. */
  readonly style?: PlotStyle;
  /** The days on which a new version of the agency was used first. */
  readonly marks?: readonly number[];
  /** Called with the day that was clicked, or chosen with Enter. */
  readonly onChoose?: (day: string) => void;
  readonly heightPx?: number;
}

const BARS: PlotStyle = { isStacked: true, format: formatNumber, formatAxis: formatCompact };

const HEIGHT_PX = 280;
const NO_MARKS: readonly number[] = [];

/** A canvas knows no variables of CSS, so it takes the colours that the legend has. */
function listColours(figure: HTMLElement, plot: HTMLElement): PlotColours {
  const { color, borderTopColor, backgroundColor } = getComputedStyle(plot);
  const swatches = [...figure.querySelectorAll('.legend .swatch')];
  return {
    text: color,
    grid: borderTopColor,
    gap: backgroundColor,
    series: swatches.map((swatch) => getComputedStyle(swatch).backgroundColor),
  };
}

/** Bars or lines by day, with a legend. It is drawn again when its width or the colour scheme changes. */
export function UsagePlot(props: UsagePlotProps) {
  const { label, days, series, getName, style = BARS, marks = NO_MARKS, onChoose, heightPx = HEIGHT_PX } = props;
  const figure = useRef<HTMLElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [area, setArea] = useState<PlotArea | null>(null);
  useEffect(() => {
    const element = frame.current;
    if (element === null || figure.current === null) return;
    const outer = figure.current;
    let plot: uPlot | null = null;
    const draw = () => {
      plot?.destroy();
      const { fontFamily } = getComputedStyle(element);
      const colours = listColours(outer, element);
      const width = element.clientWidth;
      const font = `12px ${fontFamily}`;
      plot = drawPlot(element, { style, days, series, marks, colours, font, width, height: heightPx, onArea: setArea });
    };
    draw();
    const resize = new ResizeObserver(() => {
      if (plot !== null && plot.width !== element.clientWidth) {
        plot.setSize({ width: element.clientWidth, height: heightPx });
      }
    });
    resize.observe(element);
    const forget = onColours(draw);
    return () => {
      forget();
      resize.disconnect();
      plot?.destroy();
    };
  }, [days, series, style, marks, heightPx]);
  const choose = (index: number) => onChoose?.(days[index] ?? '');
  const { day, handlers } = useChosenDay(days.length, area, choose);
  const last = days.length - 1;
  return (
    <figure ref={figure} className="card plot">
      <div
        className={onChoose === undefined ? 'plot-frame' : 'plot-frame plot-clickable'}
        role="slider"
        tabIndex={0}
        aria-label={onChoose === undefined ? label : `${label} Enter shows the runs.`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={day ?? last}
        aria-valuetext={dayText({ days, series, getName, day: day ?? last, style, marks })}
        {...handlers}
      >
        <div ref={frame} className="plot-canvas" style={{ height: heightPx }} aria-hidden="true" />
        {day !== null && area !== null && <DayValues {...{ days, series, getName, day, area, style, marks }} />}
      </div>
      <UsageLegend series={series} getName={getName} style={style} />
      {marks.length > 0 && <p className="small muted">A dashed line: another version of the agency was used.</p>}
    </figure>
  );
}

/** The day whose values are shown: at the pointer, or chosen with the keys while the plot has the focus. */
function useChosenDay(count: number, area: PlotArea | null, choose: (day: number) => void) {
  const [chosen, setDay] = useState<number | null>(null);
  // Another period may have fewer days.
  const day = chosen === null ? null : Math.min(chosen, count - 1);
  const pointAt = ({ clientX, currentTarget }: PointerEvent<HTMLElement>) => {
    if (area === null) return;
    const x = clientX - currentTarget.getBoundingClientRect().left - area.left;
    setDay(Math.min(Math.max(Math.floor((x / area.width) * count), 0), count - 1));
  };
  const press = (event: KeyboardEvent) => {
    const from = day ?? count;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: count - 1 }[event.key];
    if (event.key === 'Escape') setDay(null);
    if (event.key === 'Enter' && day !== null) choose(day);
    if (to === undefined) return;
    // The page would scroll.
    event.preventDefault();
    setDay(Math.min(Math.max(to, 0), count - 1));
  };
  return {
    day,
    handlers: {
      onPointerMove: pointAt,
      onPointerDown: pointAt,
      // A finger leaves when it is lifted. Its values stay until the person touches something else.
      onPointerLeave: ({ pointerType }: PointerEvent) => pointerType === 'mouse' && setDay(null),
      onClick: () => day !== null && choose(day),
      onKeyDown: press,
      onFocus: () => setDay((before) => before ?? count - 1),
      onBlur: () => setDay(null),
    },
  };
}
