import type { AgentPath } from '../../domain/file/agency-path.ts';
import { MAX_IMAGE_BYTES } from '../../domain/run/tool-image.ts';
import type { AgentFiles, OpenedAgentFile } from '../files-port.ts';
import { fileTool } from './file-tool.ts';
import { bytes, checkModelFilePath } from './model-path.ts';

interface ShowInput {
  readonly path: string;
}

const KINDS = 'PNG, JPEG, GIF and WebP';

export const showFile = fileTool<ShowInput>({
  name: 'show_file',
  description: `Shows you an image file (${KINDS}).`,
  properties: { path: { type: 'string', description: 'Full path of the file: /app/mnt/…' } },
  required: ['path'],
  async execute(files, { path }, signal) {
    const checked = checkModelFilePath(path);
    if ('problem' in checked) return checked.problem;
    const { below } = checked;
    await using opened = await files.open(below);
    if (opened === null) return `There is no file ${path}.`;
    const { file, kind } = opened;
    if (kind.is !== 'image') return `${path} is no image: it is ${file.contentType}, and this tool shows ${KINDS}.`;
    if (file.size > MAX_IMAGE_BYTES) {
      return `${path} has ${bytes(file.size)}; at most ${bytes(MAX_IMAGE_BYTES)} can be shown.`;
    }
    const image = { mediaType: kind.mediaType, sizeBytes: file.size };
    return { text: path, images: [{ ...image, bytes: () => readAgain(files, below, file.size, signal) }] };
  },
});

/** The file is read when it is stored. Another version may have replaced it since. */
async function readAgain(files: AgentFiles, path: AgentPath, size: number, signal: AbortSignal): Promise<Uint8Array> {
  await using opened: OpenedAgentFile | null = await files.open(path);
  if (opened === null || opened.file.size !== size) throw new Error('The file was changed while it was shown.');
  const pieces: Uint8Array[] = [];
  for await (const piece of opened.bytes) {
    signal.throwIfAborted();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
