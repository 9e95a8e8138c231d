import { Page } from '../../ui/page.tsx';

export function HealthPage() {
  return <Page title="Health">{null}</Page>;
}
