import { Page } from '../../ui/page.tsx';

export function FilesPage() {
  return <Page title="Files">{null}</Page>;
}
