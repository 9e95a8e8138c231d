import { useEffect, useState } from 'react';
import { toCodeLanguage } from '../../lib/code-language.ts';
import { formatBytes } from '../../lib/format.ts';
import { Highlighted } from '../../ui/highlighted.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { CsvTable } from './csv-table.tsx';
import { MAX_TEXT_BYTES, type Preview } from './read-preview.ts';

interface PreviewContentProps {
  readonly name: string;
  readonly preview: Preview;
}

/** Text is shown as text, and an image as an image of a fixed type. Everything else can only be downloaded. */
export function PreviewContent({ name, preview }: PreviewContentProps) {
  if (preview.kind === 'image') return <ImagePreview name={name} blob={preview.blob} />;
  if (preview.kind === 'binary') {
    return (
      <p className="muted">This file is neither text nor a PNG, JPEG, GIF or WebP image. Download it to use it.</p>
    );
  }
  const { text, isCut, isDamaged } = preview;
  const plain = (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <section className="preview-text" tabIndex={0} aria-label={`Text of ${name}`}>
        <pre>
          <Highlighted code={text} language={toCodeLanguage(name.slice(name.lastIndexOf('.') + 1))} />
        </pre>
      </section>
    </div>
  );
  const rendered = renderText(name, text);
  return (
    <div className="stack-tight">
      <p className="muted small">
        Text in UTF-8.
        {isCut && ` Only the first ${formatBytes(MAX_TEXT_BYTES)} are shown; download the file to read all of it.`}
        {isDamaged && ' Bytes that are not UTF-8 are shown as �.'}
      </p>
      {rendered === null ? (
        plain
      ) : (
        <Tabs
          label={`Views of ${name}`}
          tabs={[
            {
              id: 'rendered',
              title: 'Rendered',
              content: (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
                <section className="preview-text preview-rendered" tabIndex={0} aria-label={`Content of ${name}`}>
                  {rendered}
                </section>
              ),
            },
            { id: 'text', title: 'Text', content: plain },
          ]}
        />
      )}
    </div>
  );
}

/** Markdown, tables and JSON are also shown as such, by the file's name. Null for other text. */
function renderText(name: string, text: string) {
  if (/\.(md|markdown)$/i.test(name)) return <Markdown text={text} />;
  if (/\.(csv|tsv)$/i.test(name)) return <CsvTable text={text} />;
  return /\.json$/i.test(name) ? <JsonView text={text} label={`JSON of ${name}`} isRepeated /> : null;
}

function ImagePreview({ name, blob }: { readonly name: string; readonly blob: Blob }) {
  const [url, setUrl] = useState<string | null>(null);
  const [size, setSize] = useState('');
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  if (isBroken) return <p className="muted">The browser cannot read this image. Download it to use it.</p>;
  return (
    <div className="stack-tight">
      <p className="muted small">
        {blob.type.slice('image/'.length).toUpperCase()} image{size}
      </p>
      <div className="preview-image">
        {url !== null && (
          <img
            src={url}
            alt={`Content of ${name}`}
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
              setSize(`, ${naturalWidth} × ${naturalHeight} pixels`)
            }
            onError={() => setBroken(true)}
          />
        )}
      </div>
    </div>
  );
}
