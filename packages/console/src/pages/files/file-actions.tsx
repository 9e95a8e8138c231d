import type { File as StoredFile } from '@runwire/client';
import { May } from '../../ui/may.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { DownloadButton } from './download-button.tsx';

interface FileActionsProps {
  readonly integration: string;
  readonly item: StoredFile;
  readonly onDelete: (item: StoredFile) => void;
  readonly onRename: (item: StoredFile) => void;
}

/** Download is first, and what cannot be undone is in a menu. */
export function FileActions({ integration, item, onDelete, onRename }: FileActionsProps) {
  return (
    <div className="file-actions">
      <DownloadButton integration={integration} item={item} isSmall />
      <May call="deleteFile">
        <Menu
          trigger={
            <button type="button" className="button button-small" aria-label={`More for ${item.name}`}>
              <span aria-hidden="true">⋯</span>
            </button>
          }
        >
          {item.kind === 'file' && <MenuItem onSelect={() => onRename(item)}>Rename</MenuItem>}
          <MenuItem onSelect={() => onDelete(item)}>Delete</MenuItem>
        </Menu>
      </May>
    </div>
  );
}
