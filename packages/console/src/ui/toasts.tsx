import { Toast } from 'radix-ui';
import { useSyncExternalStore } from 'react';

interface Message {
  readonly id: number;
  readonly text: string;
}

let messages: readonly Message[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function set(changed: readonly Message[]): void {
  messages = changed;
  for (const listener of listeners) listener();
}

/** Reports that something was done. Errors are shown by `ErrorNotice` at their place instead. */
export function notify(text: string): void {
  nextId += 1;
  set([...messages, { id: nextId, text }]);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => messages);
  return (
    <Toast.Provider duration={5000} swipeDirection="left">
      {shown.map(({ id, text }) => (
        <Toast.Root
          key={id}
          className="toast"
          onOpenChange={(isOpen) => {
            if (!isOpen) set(messages.filter((message) => message.id !== id));
          }}
        >
          <Toast.Description>{text}</Toast.Description>
          <Toast.Close className="button button-small button-quiet" aria-label="Dismiss">
            <span aria-hidden="true">×</span>
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport className="toasts" />
    </Toast.Provider>
  );
}
