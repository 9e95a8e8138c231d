import { Page } from '../../ui/page.tsx';

export function IntegrationsPage() {
  return <Page title="Integrations">{null}</Page>;
}
