import { Link } from '@tanstack/react-router';
import { shorten } from '../../lib/shorten.ts';

/** A link to a file in the browser of files. */
export function FileLink({ integration, path }: { readonly integration: string; readonly path: string }) {
  return (
    <Link
      to="/integrations/$integration/files"
      params={{ integration }}
      search={{ folder: path.slice(0, path.lastIndexOf('/')), file: path }}
    >
      <bdi>{shorten(path)}</bdi>
    </Link>
  );
}
