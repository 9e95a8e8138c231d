import type { CodeLanguage } from '../lib/code-language.ts';
import { CopyButton } from './copy-button.tsx';
import { Highlighted } from './highlighted.tsx';

interface CodeBlockProps {
  readonly code: string;
  readonly label: string;
  /** Code without a language has no colours. */
  readonly language?: CodeLanguage | undefined;
  /** What the button copies, if it is not what is shown. */
  readonly copied?: string;
  /** True if the page can have several with the same label. They are no landmarks then. */
  readonly isRepeated?: boolean;
}

/** A longer text makes the page slow. */
const MAX_SHOWN = 50_000;

/** Code with a button that copies all of it. The end of a very long text is not shown. */
export function CodeBlock({ code, label, language, copied = code, isRepeated = false }: CodeBlockProps) {
  const isCut = code.length > MAX_SHOWN;
  return (
    <div className="code code-copy">
      {/* A region that scrolls must be reachable by keyboard. */}
      <section tabIndex={0} aria-label={label} role={isRepeated ? 'group' : undefined}>
        <pre>
          <Highlighted code={isCut ? `${code.slice(0, MAX_SHOWN)}…` : code} language={language} />
        </pre>
        {isCut && <p className="code-note">The rest is not shown. Copy the text to get all of it.</p>}
      </section>
      <CopyButton text={copied} label={`Copy ${label}`} />
    </div>
  );
}
