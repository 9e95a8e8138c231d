import { type ClipboardEvent, type KeyboardEvent, type RefObject, useRef } from 'react';
import { Tooltip } from '../../ui/tooltip.tsx';
import { useChanges } from '../transcript/changes.ts';
import type { LiveRun } from '../transcript/live-run.ts';
import { AttachmentList } from './attachment-list.tsx';
import type { Attachments } from './attachments.ts';

/** The chat is being read, or could not be read. */
type SendObstacle = 'loading' | 'failed';

interface ComposerProps {
  /** The text is in the element, so that typing renders nothing. */
  readonly field: RefObject<HTMLTextAreaElement | null>;
  /** The text with which the field begins. */
  readonly draft: string;
  readonly attachments: Attachments;
  /** The runs that are active, with a button that stops them. */
  readonly active: readonly LiveRun[];
  /** Why nothing can be sent now. */
  readonly obstacle: SendObstacle | null;
  readonly onText: (text: string) => void;
  /** Shows the request as code. */
  readonly onCode: () => void;
  readonly onSend: () => void;
}

/** The field for a message. Enter sends it, Shift and Enter begin a new line. */
export function Composer(props: ComposerProps) {
  const { field, draft, attachments, active, obstacle, onText, onCode, onSend } = props;
  useChanges(attachments.changes);
  const picker = useRef<HTMLInputElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter also ends the composition of a character.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onSend();
  };
  const onPaste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    attachments.add(event.clipboardData.files);
  };
  return (
    <form
      className="composer"
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <AttachmentList attachments={attachments} />
      <textarea
        ref={field}
        className="input"
        aria-label="Message"
        aria-describedby="composer-hint"
        placeholder="Write a message. Shift and Enter begin a new line."
        rows={2}
        defaultValue={draft}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div className="spread">
        <span id="composer-hint" className="small muted ellipsis composer-hint">
          {getHint(active.length > 0, obstacle)}
        </span>
        <div className="row composer-buttons">
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label="Files"
            onChange={({ target: { files, form } }) => {
              if (files !== null) attachments.add(files);
              // The same file can be chosen again.
              if (picker.current !== null) picker.current.value = '';
              form?.querySelector('textarea')?.focus();
            }}
          />
          <button type="button" className="button" onClick={onCode}>
            View code
          </button>
          <Tooltip text="You can also drop or paste files.">
            <button type="button" className="button" onClick={() => picker.current?.click()}>
              Attach files
            </button>
          </Tooltip>
          {active[0] === undefined ? (
            <SendButton attachments={attachments} obstacle={obstacle} />
          ) : (
            <StopButton live={active[0]} onStop={() => active.map((live) => live.stop())} />
          )}
        </div>
      </div>
    </form>
  );
}

function getHint(isActive: boolean, obstacle: SendObstacle | null): string {
  if (isActive) return 'Answering…';
  if (obstacle === 'loading') return 'Loading the chat…';
  return obstacle === 'failed' ? 'The chat was not read.' : 'Enter sends.';
}

interface SendButtonProps extends Pick<ComposerProps, 'obstacle'> {
  readonly attachments: Attachments;
}

function SendButton({ attachments: { areUploaded, areUploading }, obstacle }: SendButtonProps) {
  const label = obstacle === 'loading' ? 'Loading…' : 'Send';
  return (
    <button
      type="submit"
      className="button button-primary composer-send"
      aria-disabled={!areUploaded || obstacle !== null}
    >
      {areUploading ? 'Uploading…' : label}
    </button>
  );
}

function StopButton({ live, onStop }: { readonly live: LiveRun; readonly onStop: () => void }) {
  useChanges(live.changes);
  const isAsked = live.stopState !== null && typeof live.stopState === 'string';
  return (
    <button
      type="button"
      className="button button-danger composer-send"
      aria-disabled={isAsked}
      onClick={({ detail: clicks }) => {
        // The second click of a double click on "Send" is not meant for this button.
        if (!isAsked && clicks < 2) onStop();
      }}
    >
      {isAsked ? 'Stopping…' : 'Stop'}
    </button>
  );
}
