const SHAPES = {
  folder: 'M1.5 4.5v8h13v-7h-6l-1.5-2h-5.5z',
  file: 'M3.5 1.5h6l3 3v10h-9z M9.5 1.5v3h3',
};

/** Beside a name, which it does not replace. */
export function FileIcon({ kind }: { readonly kind: 'file' | 'folder' }) {
  return (
    <svg className={`file-icon file-icon-${kind}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[kind]} />
    </svg>
  );
}
