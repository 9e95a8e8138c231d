import { ConnectionLostError } from '@runwire/client';
import { type ComponentType, type ReactNode, useState } from 'react';
import { notify } from '../ui/toasts.tsx';
import { noteError } from './query-client.ts';

type LoadDialog = () => Promise<ComponentType<{ readonly onClose: () => void }>>;

interface LoadedDialog {
  /** The open dialog. */
  readonly dialog: ReactNode;
  readonly open: (load: LoadDialog) => void;
}

/** Dialogs of the menu that are loaded when they are first opened. The same one again closes it. */
export function useLoadedDialog(): LoadedDialog {
  const [opened, setOpened] = useState<{
    readonly load: LoadDialog;
    readonly Shown: Awaited<ReturnType<LoadDialog>>;
  } | null>(null);
  const close = () => setOpened(null);
  const open = async (load: LoadDialog) => {
    try {
      const Shown = await load();
      setOpened((before) => (before?.load === load ? null : { load, Shown }));
    } catch (cause) {
      noteError(new ConnectionLostError(null, 'connection_lost', 'A part of the console did not load.', cause));
      notify('A part of the console did not load. Try again when the server answers.');
    }
  };
  return { dialog: opened === null ? null : <opened.Shown onClose={close} />, open: (load) => void open(load) };
}
