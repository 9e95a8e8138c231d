import { type Period, presetPeriods } from './usage-period.ts';

interface PeriodPresetsProps {
  readonly period: Period;
  readonly onChoose: (period: Period) => void;
}

/** Periods that people ask for often. */
export function PeriodPresets({ period, onChoose }: PeriodPresetsProps) {
  return (
    <div className="row" role="group" aria-label="Periods">
      {presetPeriods().map(({ title, ...preset }) => (
        <button
          key={title}
          type="button"
          className="button button-small"
          aria-pressed={preset.from === period.from && preset.to === period.to}
          onClick={() => onChoose(preset)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
