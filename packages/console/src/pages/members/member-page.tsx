import { Page } from '../../ui/page.tsx';

export function MemberPage() {
  return <Page title="Member">{null}</Page>;
}
