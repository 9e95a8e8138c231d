import { useFileDrop } from '../../ui/use-file-drop.ts';

interface DropAreaProps {
  /** The folder into which the files would be uploaded. Null if the person is asked for it. */
  readonly folder: string | null;
  readonly onDrop: (files: readonly File[]) => void;
}

/** Takes files that are dropped anywhere onto the page. */
export function DropArea({ folder, onDrop }: DropAreaProps) {
  const isOver = useFileDrop(onDrop);
  if (!isOver) return null;
  return (
    <div className="drop-area">
      <p>
        Drop the files to upload them{folder !== null && ' to '}
        {folder !== null && <bdi>{folder}</bdi>}
      </p>
    </div>
  );
}
