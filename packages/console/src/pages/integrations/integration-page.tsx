import { Page } from '../../ui/page.tsx';

export function IntegrationPage() {
  return <Page title="Integration">{null}</Page>;
}
