import type { Member } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { May } from '../../ui/may.tsx';

interface MemberLinksProps {
  readonly integration: string;
  readonly member: Member;
}

/** Leads to the pages about the member that are no tabs. */
export function MemberLinks({ integration, member: { consumerId, folder } }: MemberLinksProps) {
  const params = { integration };
  const search = { member: consumerId };
  return (
    <nav className="row" aria-label="Of this member">
      <Link className="button button-small" to="/integrations/$integration/files" params={params} search={{ folder }}>
        Files
      </Link>
      <May call="getCompletionV2">
        <Link
          className="button button-small"
          to="/integrations/$integration/playground"
          params={params}
          search={search}
        >
          Playground as this member
        </Link>
      </May>
    </nav>
  );
}
