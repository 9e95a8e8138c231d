import { useMemberName } from '../app/member-names.ts';
import { shorten } from '../lib/shorten.ts';
import { Nothing } from './nothing.tsx';

interface MemberNameProps {
  readonly integration: string;
  readonly consumerId: string | null;
}

/** A member as people know it. Its id is the title. */
export function MemberName({ integration, consumerId }: MemberNameProps) {
  return consumerId === null ? <Nothing /> : <KnownMember integration={integration} consumerId={consumerId} />;
}

function KnownMember({ integration, consumerId }: { readonly integration: string; readonly consumerId: string }) {
  return <bdi title={consumerId}>{shorten(useMemberName(integration, consumerId))}</bdi>;
}
