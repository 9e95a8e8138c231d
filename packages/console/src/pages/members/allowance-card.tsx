import type { Member } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../lib/format.ts';
import { Meter } from '../../ui/meter.tsx';
import { Time } from '../../ui/time.tsx';

interface AllowanceCardProps {
  readonly integration: string;
  readonly member: Member;
  readonly onAdjust: () => void;
}

export function AllowanceCard({ integration, member, onAdjust }: AllowanceCardProps) {
  const { allowance } = member;
  return (
    <section className="card" aria-labelledby="allowance">
      <div className="spread">
        <h2 id="allowance">Allowance</h2>
        {allowance !== null && (
          <button type="button" className="button button-small" onClick={onAdjust}>
            Adjust usage
          </button>
        )}
      </div>
      {allowance === null ? (
        <p className="muted">
          Allowances are off, so the use of this member has no limit. Switch them on in the{' '}
          <Link to="/integrations/$integration" params={{ integration }} search={{ tab: 'settings' }}>
            settings of the integration
          </Link>
          .
        </p>
      ) : (
        <Amounts member={member} allowance={allowance} />
      )}
    </section>
  );
}

interface AmountsProps {
  readonly member: Member;
  readonly allowance: NonNullable<Member['allowance']>;
}

function Amounts({ member, allowance }: AmountsProps) {
  const { unit, limit, used, reserved, remaining, period, resetAt } = allowance;
  const taken = used + reserved;
  return (
    <>
      <Meter label={`${formatNumber(taken)} of ${formatNumber(limit)} ${unit} used`} value={taken} max={limit} />
      <dl className="amounts">
        <Amount title="Used" value={formatNumber(used)} />
        <Amount title="Reserved" value={formatNumber(reserved)} />
        <Amount title="Remaining" value={formatNumber(remaining)} />
        <Amount title="Limit" value={formatNumber(limit)} />
      </dl>
      <p className="small muted">
        In {unit}, {period === 'lifetime' ? 'for the whole life of the member' : `per ${period}`}.{' '}
        {member.ownLimit === null ? 'The limit is that of the integration.' : 'This member has its own limit.'}{' '}
        {resetAt === null ? (
          'It is never reset.'
        ) : (
          <>
            Reset <Time time={resetAt} age /> (<Time time={resetAt} />
            ).
          </>
        )}
      </p>
    </>
  );
}

function Amount({ title, value }: { readonly title: string; readonly value: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{value}</dd>
    </div>
  );
}
