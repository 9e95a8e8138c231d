import { formatDay } from '../../lib/format.ts';
import type { PlotArea, PlotStyle } from './plot-style.ts';
import type { Series } from './usage-data.ts';
import { swatchClass } from './usage-legend.tsx';

const formatSlot = ({ formatSlot: format = formatDay }: PlotStyle, slot: string) => format(slot);

type NameOf = (series: Series) => string;

const addUp = (series: readonly Series[], day: number) =>
  series.reduce((sum, { values }) => sum + (values[day] ?? 0), 0);

/** The values of a day as a sentence, for screen readers. */
export function dayText({ days, series, getName, day, style, marks }: Omit<DayValuesProps, 'area'>): string {
  const values = series
    .filter((one) => (one.values[day] ?? 0) > 0)
    .map((one) => `${getName(one)} ${style.format(one.values[day] ?? 0)}`);
  if (style.isStacked && values.length > 1) values.push(`all ${style.format(addUp(series, day))}`);
  if (marks.includes(day)) values.push(NEW_VERSION);
  return `${formatSlot(style, days[day] ?? '')}: ${values.join(', ') || 'nothing'}`;
}

interface DayValuesProps {
  readonly days: readonly string[];
  readonly series: readonly Series[];
  readonly getName: NameOf;
  readonly day: number;
  readonly area: PlotArea;
  readonly style: PlotStyle;
  readonly marks: readonly number[];
}

const NEW_VERSION = 'another version of the agency';

/** Marks a day of the plot, and shows its values beside it. */
export function DayValues({ days, series, getName, day, area, style, marks }: DayValuesProps) {
  const width = area.width / days.length;
  const left = area.left + day * width;
  const isInFirstHalf = day < days.length / 2;
  const shown = series.map((one, index) => ({ one, index })).filter(({ one }) => (one.values[day] ?? 0) > 0);
  return (
    <>
      <div className="plot-day" style={{ left, width }} />
      <div
        className={isInFirstHalf ? 'plot-values' : 'plot-values plot-values-before'}
        style={{ left: isInFirstHalf ? left + width : left }}
      >
        <strong>{formatSlot(style, days[day] ?? '')}</strong>
        {shown.length === 0 && <span className="muted">Nothing</span>}
        {marks.includes(day) && <span className="muted">{NEW_VERSION}</span>}
        {shown.map(({ one, index }) => (
          <span key={one.key ?? ''} className="plot-value">
            <span className={swatchClass(series, index)} />
            <bdi className="ellipsis">{getName(one)}</bdi>
            <span className="number">{style.format(one.values[day] ?? 0)}</span>
          </span>
        ))}
        {style.isStacked && shown.length > 1 && (
          <span className="plot-value">
            <span className="plot-all">All</span>
            <span className="number">{style.format(addUp(series, day))}</span>
          </span>
        )}
      </div>
    </>
  );
}
