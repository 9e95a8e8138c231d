import type { PlotStyle } from './plot-style.ts';
import type { Series } from './usage-data.ts';

interface UsageLegendProps {
  readonly series: readonly Series[];
  readonly getName: (series: Series) => string;
  readonly style: PlotStyle;
}

/** The colour of a series. The others have one of their own. */
export const swatchClass = (series: readonly Series[], index: number): string =>
  `swatch swatch-${series[index]?.key === null && series.length > 1 ? 'others' : index}`;

/** Names the colours. The plot takes its colours from here. */
export function UsageLegend({ series, getName, style }: UsageLegendProps) {
  return (
    <ul className="legend" aria-label="Legend">
      {series.map((one, index) => (
        <li key={one.key ?? ''}>
          <span className={swatchClass(series, index)} aria-hidden="true" />
          <bdi className="ellipsis">{getName(one)}</bdi>
          {style.isStacked && <span className="muted number">{style.format(one.total)}</span>}
        </li>
      ))}
    </ul>
  );
}
