import { Page } from '../../ui/page.tsx';

export function RunsPage() {
  return <Page title="Runs">{null}</Page>;
}
