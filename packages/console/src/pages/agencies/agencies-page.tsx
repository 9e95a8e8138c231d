import { Page } from '../../ui/page.tsx';

export function AgenciesPage() {
  return <Page title="Agencies">{null}</Page>;
}
