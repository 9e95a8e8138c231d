import type { Member } from '@runwire/client';
import { Badge } from '../../ui/feedback.tsx';

/** Shows if the member may start runs. */
export function MemberState({ active, allowance }: Pick<Member, 'active' | 'allowance'>) {
  if (!active) return <Badge tone="warn">inactive</Badge>;
  if (allowance?.exhausted) return <Badge tone="bad">exhausted</Badge>;
  return <Badge tone="good">active</Badge>;
}
