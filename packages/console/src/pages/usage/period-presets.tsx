import { type Period, presetPeriods } from './usage-period.ts';

interface PeriodPresetsProps {
  readonly period: Period;
  readonly onChoose: (period: Period) => void;
}

/** Periods that people ask for often. */
export function PeriodPresets({ period, onChoose }: PeriodPresetsProps) {
  return (
    <ul className="usage-presets" aria-label="Periods">
      {presetPeriods().map(({ title, ...preset }) => (
        <li key={title}>
          <button
            type="button"
            className="button button-small"
            aria-pressed={preset.from === period.from && preset.to === period.to}
            onClick={() => onChoose(preset)}
          >
            {title}
          </button>
        </li>
      ))}
    </ul>
  );
}
