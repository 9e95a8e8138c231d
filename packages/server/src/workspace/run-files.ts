import type { AgentFiles, OpenedAgentFile } from '../agent/files-port.ts';
import type { MountPath } from '../domain/file/mount-path.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import type { Files, StoredFile } from '../files/files.ts';
import { seenFiles } from '../files/seen-files.ts';
import type { DocumentTexts } from './document-texts.ts';
import { getKind } from './file-kind.ts';

export interface RunFilesDeps {
  readonly files: Files;
  readonly documents: DocumentTexts;
}

/** A run's files: those of its integration that it may see. All others behave as if they did not exist. */
export function runFiles(
  { files, documents }: RunFilesDeps,
  run: Pick<AdmittedRun, 'integrationId' | 'ownerId' | 'chatKey' | 'files'>,
): AgentFiles<MountPath> {
  const { integrationId } = run;
  const seen = seenFiles(run);
  const open = async (file: StoredFile): Promise<OpenedAgentFile> => {
    const convert = (signal: AbortSignal) => documents.read(run, file, signal);
    // A document whose text is stored need not be opened.
    if (file.textKey !== null) {
      return {
        file,
        kind: { is: 'document' },
        bytes: toBytes(files, file),
        convert,
        [Symbol.asyncDispose]: async () => {},
      };
    }
    await using opening = new AsyncDisposableStack();
    const opened = opening.use(await files.open(file));
    const { kind, bytes } = await getKind(opened);
    const close = opening.move();
    return { file, kind, bytes, convert, [Symbol.asyncDispose]: () => close.disposeAsync() };
  };
  return {
    list: (folder, after, limit) => files.list(integrationId, folder, { after, limit, seen }),
    walk: (folder) => files.walk(integrationId, folder, seen),
    open: async (path) => {
      const file = await files.find(integrationId, path, seen);
      return file === null ? null : await open(file);
    },
  };
}

async function* toBytes(files: Files, file: StoredFile): AsyncGenerator<Uint8Array, void> {
  await using opened = await files.open(file);
  yield* opened.bytes;
}
