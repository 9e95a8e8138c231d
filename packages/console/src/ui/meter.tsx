interface MeterProps {
  /** For screen readers: `12 of 100 runs used`. */
  readonly label: string;
  readonly value: number;
  readonly max: number;
}

/** How much of an allowance is used. */
export function Meter({ label, value, max }: MeterProps) {
  const share = max <= 0 ? 1 : Math.min(value / max, 1);
  return (
    <>
      <span className="visually-hidden">{label}</span>
      <div className={share >= 1 ? 'meter meter-full' : 'meter'} title={label} aria-hidden="true">
        <span style={{ width: `${100 * share}%` }} />
      </div>
    </>
  );
}
