import { useEffect, useRef } from 'react';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { drawStackedBars, type PlotColours } from './stacked-bars.ts';
import type { Series } from './usage-data.ts';
import { UsageLegend } from './usage-legend.tsx';
import './usage.css';

interface UsagePlotProps {
  /** For screen readers. The table below has the same data. */
  readonly label: string;
  readonly days: readonly string[];
  readonly series: readonly Series[];
  readonly nameOf: (series: Series) => string;
}

const HEIGHT_PX = 280;

/** A canvas knows no variables of CSS, so it takes the colours that the legend has. */
function coloursOf(figure: HTMLElement, plot: HTMLElement): PlotColours {
  const { color, borderTopColor, backgroundColor } = getComputedStyle(plot);
  const swatches = [...figure.querySelectorAll('.swatch')];
  return {
    text: color,
    grid: borderTopColor,
    gap: backgroundColor,
    series: swatches.map((swatch) => getComputedStyle(swatch).backgroundColor),
  };
}

/** Bars by day, with a legend. It is drawn again when its width or the colour scheme changes. */
export function UsagePlot({ label, days, series, nameOf }: UsagePlotProps) {
  const figure = useRef<HTMLElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = frame.current;
    if (element === null || figure.current === null) return;
    const outer = figure.current;
    let plot: uPlot | null = null;
    const draw = () => {
      plot?.destroy();
      const { fontFamily } = getComputedStyle(element);
      const colours = coloursOf(outer, element);
      const width = element.clientWidth;
      plot = drawStackedBars(element, { days, series, colours, font: `12px ${fontFamily}`, width, height: HEIGHT_PX });
      plot.ctx.canvas.setAttribute('role', 'img');
      plot.ctx.canvas.setAttribute('aria-label', label);
    };
    draw();
    const resize = new ResizeObserver(() => {
      if (plot !== null && plot.width !== element.clientWidth) {
        plot.setSize({ width: element.clientWidth, height: HEIGHT_PX });
      }
    });
    resize.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    return () => {
      scheme.removeEventListener('change', draw);
      resize.disconnect();
      plot?.destroy();
    };
  }, [days, series, label]);
  return (
    <figure ref={figure} className="card plot">
      <div ref={frame} className="plot-canvas" style={{ height: HEIGHT_PX }} />
      <UsageLegend series={series} nameOf={nameOf} />
    </figure>
  );
}
