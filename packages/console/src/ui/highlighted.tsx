import { useEffect, useState } from 'react';
import type { CodeLanguage } from '../lib/code-language.ts';
import type { CodePiece } from '../lib/highlight.ts';
import './highlighted.css';

interface HighlightedProps {
  readonly code: string;
  readonly language: CodeLanguage | undefined;
}

/** A longer code makes the page slow. */
const MAX_CHARACTERS = 20_000;
/** Code that a model writes gets its colours when it is finished. */
const PAUSE_MS = 100;

interface ColouredCode {
  readonly code: string;
  readonly pieces: readonly CodePiece[];
}

/** Code with colours. They are loaded when the first code is shown. */
export function Highlighted({ code, language }: HighlightedProps) {
  const [coloured, setColoured] = useState<ColouredCode | null>(null);
  useEffect(() => {
    if (language === undefined || code.length > MAX_CHARACTERS) return;
    let isShown = true;
    const timer = setTimeout(async () => {
      try {
        const { highlight } = await import('../lib/highlight.ts');
        if (isShown) setColoured({ code, pieces: highlight(code, language) });
      } catch {
        // The server does not answer, or has other files now. The code can be read without colours.
      }
    }, PAUSE_MS);
    return () => {
      isShown = false;
      clearTimeout(timer);
    };
  }, [code, language]);
  if (coloured?.code !== code) return <code>{code}</code>;
  return (
    <code>
      {coloured.pieces.map(({ text, kind }, index) => {
        if (kind === null) return text;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a code have no other identity.
          <span key={index} className={`code-${kind}`}>
            {text}
          </span>
        );
      })}
    </code>
  );
}
