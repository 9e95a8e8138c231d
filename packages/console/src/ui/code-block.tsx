import { CopyButton } from './copy-button.tsx';

interface CodeBlockProps {
  readonly code: string;
  readonly label: string;
  /** What the button copies, if it is not what is shown. */
  readonly copied?: string;
  /** True if the page can have several with the same label. They are no landmarks then. */
  readonly isRepeated?: boolean;
}

/** A longer text makes the page slow. */
const MAX_SHOWN = 50_000;

/** Code or JSON with a button that copies all of it. The end of a very long text is not shown. */
export function CodeBlock({ code, label, copied = code, isRepeated = false }: CodeBlockProps) {
  const isCut = code.length > MAX_SHOWN;
  return (
    <div className="code code-copy">
      {/* A region that scrolls must be reachable by keyboard. */}
      <section tabIndex={0} aria-label={label} role={isRepeated ? 'group' : undefined}>
        <pre>
          <code>{isCut ? `${code.slice(0, MAX_SHOWN)}…` : code}</code>
        </pre>
        {isCut && <p className="code-note">The rest is not shown. Copy the text to get all of it.</p>}
      </section>
      <CopyButton text={copied} label={`Copy ${label}`} />
    </div>
  );
}
