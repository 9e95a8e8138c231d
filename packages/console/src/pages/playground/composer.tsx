import { type ClipboardEvent, type KeyboardEvent, type RefObject, useRef } from 'react';
import { AttachmentList } from './attachment-list.tsx';
import type { Attachments, UploadTarget } from './attachments.ts';
import { useChanges } from './changes.ts';
import type { LiveRun } from './live-run.ts';

interface ComposerProps {
  /** The text is in the element, so that typing renders nothing. */
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly attachments: Attachments;
  readonly target: UploadTarget;
  /** The run that is active, with a button that stops it. */
  readonly live: LiveRun | null;
  readonly onSend: () => void;
}

/** The field for a message. Enter sends it, Shift and Enter begin a new line. */
export function Composer({ field, attachments, target, live, onSend }: ComposerProps) {
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
    attachments.add(event.clipboardData.files, target);
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
      <AttachmentList attachments={attachments} target={target} />
      <textarea
        ref={field}
        className="input"
        aria-label="Message"
        aria-describedby="composer-hint"
        placeholder="Write a message"
        rows={2}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div className="spread">
        <span id="composer-hint" className="small muted composer-hint">
          {live === null ? 'Enter sends. Shift and Enter begin a new line.' : 'The agent is answering…'}
        </span>
        <div className="row composer-buttons">
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label="Files"
            onChange={({ target: { files, form } }) => {
              if (files !== null) attachments.add(files, target);
              // The same file can be chosen again.
              if (picker.current !== null) picker.current.value = '';
              form?.querySelector('textarea')?.focus();
            }}
          />
          <button
            type="button"
            className="button"
            title="You can also drop or paste files."
            onClick={() => picker.current?.click()}
          >
            Attach files
          </button>
          {live === null ? <SendButton attachments={attachments} /> : <StopButton live={live} />}
        </div>
      </div>
    </form>
  );
}

function SendButton({ attachments }: { readonly attachments: Attachments }) {
  return (
    <button type="submit" className="button button-primary composer-send" aria-disabled={!attachments.areUploaded}>
      {attachments.areUploading ? 'Uploading…' : 'Send'}
    </button>
  );
}

function StopButton({ live }: { readonly live: LiveRun }) {
  useChanges(live.changes);
  const isAsked = live.stopState !== null && typeof live.stopState === 'string';
  return (
    <button
      type="button"
      className="button button-danger composer-send"
      aria-disabled={isAsked}
      onClick={() => {
        if (!isAsked) void live.stop();
      }}
    >
      {isAsked ? 'Stopping…' : 'Stop'}
    </button>
  );
}
