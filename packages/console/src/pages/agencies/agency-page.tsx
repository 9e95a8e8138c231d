import { Page } from '../../ui/page.tsx';

export function AgencyPage() {
  return <Page title="Agency">{null}</Page>;
}
