import type { Allowance } from '@runwire/client';
import { formatCompact, formatNumber } from '../../lib/format.ts';
import { Meter } from '../../ui/meter.tsx';
import './members.css';

interface AllowanceBarProps {
  readonly allowance: Allowance | null;
}

/** What a member has used and reserved, as a bar. */
export function AllowanceBar({ allowance }: AllowanceBarProps) {
  if (allowance === null) return <span className="muted">no limit</span>;
  const { used, reserved, limit, unit } = allowance;
  const taken = used + reserved;
  return (
    <div className="allowance-bar">
      <span className="small ellipsis number" aria-hidden="true">
        {formatCompact(taken)} of {formatCompact(limit)} {unit}
      </span>
      <Meter label={`${formatNumber(taken)} of ${formatNumber(limit)} ${unit} used`} value={taken} max={limit} />
    </div>
  );
}
