import { Link } from '@tanstack/react-router';
import { toParts } from './file-path.ts';

interface BreadcrumbsProps {
  readonly integration: string;
  readonly folder: string;
}

/** The way from the root to the folder. */
export function Breadcrumbs({ integration, folder }: BreadcrumbsProps) {
  const parts = toParts(folder);
  return (
    <nav aria-label="Folder">
      <ol className="crumbs">
        {parts.map(({ name, path }, index) => (
          <li key={path}>
            {index === parts.length - 1 ? (
              <span aria-current="location">
                <bdi>{name}</bdi>
              </span>
            ) : (
              <Link
                to="/integrations/$integration/files"
                params={{ integration }}
                search={index === 0 ? {} : { folder: path }}
                activeProps={{ 'aria-current': undefined }}
              >
                <bdi>{name}</bdi>
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
