import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FileServer, imageAttachment, postForm, type Rig, toParts } from '@runwire/test-kit';
import { expectAtLeast, expectEqual, Shortfall, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { PlantedPerson, pngWith } from './person.ts';
import { type SignedForm, sendForm, sign, signing } from './uploads.ts';

/** An agency whose agent runs commands. */
export const WORK_AGENCY =
  'name: Work\nagents:\n  - { name: Worker, description: Works., instructions: Work., sandbox: true }\n';

/** How long the proof looks whether the erasure waits for an upload. */
export const LOOK_MS = 1500;
const IMAGES = 6;

/** A file whose second half is sent later. */
interface HeldUpload {
  finish(): Promise<number>;
}

/**
 * Erases a person while bytes of the person are written that no row refers to yet: an upload that is half sent, a form that is
 * being signed, images of refused requests, a fetched attachment and a command's files.
 */
export class LateWriters {
  readonly #rig: Rig;
  readonly #person: PlantedPerson;

  constructor(rig: Rig, files: FileServer, number: number) {
    this.#rig = rig;
    this.#person = new PlantedPerson(rig, files, number);
  }

  get #api() {
    return this.#rig.server().api;
  }

  /** Another node, if there are several. */
  get #other() {
    return this.#rig.servers.at(-1) ?? this.#rig.server();
  }

  async erase(lookMs: number): Promise<{ readonly refusedImages: number }> {
    const person = this.#person;
    await person.register(this.#rig.server(), { agency: 'work', fileAccess: 'member' });
    const held = await this.#holdUpload();
    const refusedImages = await this.#refuseImages();
    await person.begin(this.#other, 'attach and hold', true);
    const command = person.start(this.#api, 'command');
    const late = this.#signLate();
    // The signing has begun. The command is somewhere between its start and its files' commit.
    await sleep(Math.random() * 700);
    expectEqual('status of the erasure', await person.erase(this.#rig.server()), 202);
    await sleep(lookMs);
    if (await person.isErased(this.#rig.server())) {
      throw new Shortfall('The person was erased while its bytes were written.');
    }
    const form = await late;
    const statuses = [await held.finish(), form === null ? 403 : await sendForm(form, Buffer.from('late'))];
    expectEqual('statuses of uploads of the erased person', statuses, [403, 403]);
    await until('end of the erasure', () => person.isErased(this.#rig.server()), { limitMs: 2 * WAIT_MS, pauseMs: 20 });
    await this.#expectNothing('when the person is erased');
    await within('end of the command', WAIT_MS, command);
    await this.#expectNothing('after all answers');
    return { refusedImages };
  }

  async #expectNothing(when: string): Promise<void> {
    const places = await this.#person.places();
    if (places.length === 0) return;
    const shown = places.slice(0, 5).join('; ');
    throw new Shortfall(`places of planted texts ${when}: expected 0, found ${places.length} (${shown}).`);
  }

  /** Sends half of a file. */
  async #holdUpload(): Promise<HeldUpload> {
    const text = this.#person.text('half sent');
    const bytes = Buffer.from(text.repeat(Math.ceil(400_000 / text.length)));
    const { uploadUrl, uploadFields } = await sign(this.#api, bytes.length, this.#person.file('half.txt'));
    const held = Promise.withResolvers<void>();
    const parts = [...toParts(uploadFields), { name: 'file', filename: 'half.txt', value: bytes }];
    const answer = postForm(uploadUrl, { parts }, () => held.promise);
    await until('bytes of the upload', async () => this.#filesWith('half sent') > 0);
    return {
      finish: async () => {
        held.resolve();
        return (await within('answer to an upload', WAIT_MS, answer)).status;
      },
    };
  }

  /** Begins to sign a form on another node. Resolves to null if it is refused. */
  async #signLate(): Promise<SignedForm | null> {
    const { api } = this.#other;
    const { status, body } = await api.post('/create_agency_upload', signing(4, this.#person.file('late.txt')));
    if (status === 200) return body;
    expectEqual('code of a signing', body.code, 'erasure_running');
    return null;
  }

  /** Sends requests with images for one chat concurrently: all but one are refused, and their images are deleted. */
  async #refuseImages(): Promise<number> {
    const person = this.#person;
    const sent = Array.from({ length: IMAGES }, async (_, number) => {
      const image = imageAttachment(pngWith(person.text(`image ${number}.`)));
      const api = this.#rig.api(number);
      const reader = await api.complete({ ...person.body('hold', `${number}`), attachments: [image] });
      return { number, status: reader.status };
    });
    const answers = await within('answers to requests with images', WAIT_MS, Promise.all(sent));
    const refused = answers.filter(({ status }) => status !== 200);
    expectEqual('admitted requests of one chat', answers.length - refused.length, 1);
    const left = refused.filter(({ number }) => this.#filesWith(`image ${number}.`) > 0).length;
    expectEqual('images of refused requests', left, 0);
    return expectAtLeast('refused images', refused.length, IMAGES - 1);
  }

  /** The number of files of the data folder, the database left out, that contain a text of the person. */
  #filesWith(what: string): number {
    const text = this.#person.text(what);
    return readdirSync(join(this.#rig.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .filter((entry) => readIfThere(join(entry.parentPath, entry.name)).includes(text)).length;
  }
}

/** A file can be deleted after it was listed. */
function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
