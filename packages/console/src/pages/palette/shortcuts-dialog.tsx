import { useId } from 'react';
import { useMenuPages } from '../../app/menu-choice.ts';
import { IS_APPLE, setShortcuts, useAreShortcutsOn } from '../../app/shortcuts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import './palette.css';

interface ShortcutsDialogProps {
  readonly onClose: () => void;
}

type Shortcut = readonly [keys: readonly string[], what: string];

const EVERYWHERE: readonly Shortcut[] = [
  [IS_APPLE ? ['⌘', 'K'] : ['Ctrl', 'K'], 'go to a page, an action or an id'],
  [['/'], 'search or filter this page'],
  [['?'], 'this list'],
  [['Esc'], 'close a dialog or a menu'],
];

const LISTS: readonly Shortcut[] = [
  [['j'], 'next row'],
  [['k'], 'row before'],
];

/** Which keys do what. */
export function ShortcutsDialog({ onClose }: ShortcutsDialogProps) {
  const { general, ofIntegration } = useMenuPages();
  const isOn = useAreShortcutsOn();
  const toId = useId();
  const pages = [...general, ...ofIntegration].flatMap(({ key, title }): Shortcut[] =>
    key === undefined ? [] : [[['g', key], title]],
  );
  return (
    <Dialog title="Keyboard shortcuts" isWide closesOutside onClose={onClose}>
      <div className="stack-wide">
        <div className="shortcuts">
          <div className="stack">
            <Section title="Everywhere" shortcuts={EVERYWHERE} />
            <Section title="Lists of runs and chats" shortcuts={LISTS} />
          </div>
          <Section title="Go to a page" shortcuts={pages} />
        </div>
        <div className="check">
          <input type="checkbox" id={toId} checked={isOn} onChange={({ target }) => setShortcuts(target.checked)} />
          <label htmlFor={toId}>Use keys without Ctrl, in this browser</label>
        </div>
        <div className="row row-end">
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function Section({ title, shortcuts }: { readonly title: string; readonly shortcuts: readonly Shortcut[] }) {
  const id = useId();
  return (
    <section className="stack-tight" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <dl>
        {shortcuts.map(([keys, what]) => (
          <div key={what} className="shortcut">
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
