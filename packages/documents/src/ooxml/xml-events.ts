import { Parser } from 'htmlparser2';
import { Unreadable } from '../unreadable.ts';

export interface XmlEvents {
  /** Names have no prefix, because some programs write `x:row`. */
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

const MAX_DEPTH = 250;
const CHUNK_BYTES = 64 * 1024;

/** Reports the elements and texts of a part in order, until `stop` returns true. */
export function readXml(xml: Buffer, events: XmlEvents, stop: () => boolean = () => false): void {
  refuseDeclarations(xml);
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > MAX_DEPTH) throw new Unreadable('is too complex: it is nested too deeply');
        events.open?.(localName(name), attributes);
      },
      ontext: (text) => events.text?.(text),
      onclosetag(name) {
        depth -= 1;
        events.close?.(localName(name));
      },
    },
    { xmlMode: true },
  );
  const decoder = new TextDecoder(xml[0] === 0xff && xml[1] === 0xfe ? 'utf-16le' : 'utf-8');
  for (let at = 0; at < xml.length && !stop(); at += CHUNK_BYTES) {
    parser.write(decoder.decode(xml.subarray(at, at + CHUNK_BYTES), { stream: true }));
  }
  if (!stop()) parser.end(decoder.decode());
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1);

/** As bytes, because in Node 26.10 a search for UTF-16 text in a buffer at an odd address never ends. */
const DECLARATIONS = ['<!DOCTYPE', '<!ENTITY'].flatMap((text) => [Buffer.from(text), Buffer.from(text, 'utf16le')]);

/**
 * No part of a DOCX or XLSX may declare a document type. A file that does is an attack: it grows by entities, or reads
 * other files.
 */
export function refuseDeclarations(xml: Buffer): void {
  if (DECLARATIONS.some((declaration) => xml.includes(declaration))) {
    throw new Unreadable('is damaged: a part of it declares a document type');
  }
}
