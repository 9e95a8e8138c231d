import { type Location, NO_POSITION, type Path, positionIn } from './fault.ts';

/** For definitions that have no file. `name` takes the file's place. */
export function noLocation(name: string): Location {
  const position = () => ({ file: name, ...NO_POSITION });
  return { file: name, position, getPosition: position };
}

/**
 * Finds values of a definition in its module's text: the next `key:` after the agent's name, or after
 * `defineAgency`. A value that is computed elsewhere has the position of the agent or of the agency.
 */
export function sourceLocation(file: string, text: string, agent?: string): Location {
  const start = agent === undefined ? agencyStart(text) : Math.max(quoted(text, agent, 0), 0);
  const find = (path: Path, part: 'key' | 'value') => {
    const key = path.findLast((step) => typeof step === 'string' && step !== 'agents');
    if (key === undefined || (agent !== undefined && key === 'name')) return start;
    const pattern = new RegExp(`(?<![\\w$])['"]?${RegExp.escape(String(key))}['"]?\\s*:\\s*`, 'g');
    pattern.lastIndex = start;
    const found = pattern.exec(text);
    if (found === null) return start;
    return part === 'key' ? found.index : found.index + found[0].length;
  };
  return {
    file,
    position: (path, part = 'value') => ({ file, ...positionIn(text, find(path, part)) }),
    getPosition(path, piece) {
      const from = find(path, 'value');
      const found = text.indexOf(piece, from);
      return { file, ...positionIn(text, found === -1 ? from : found) };
    },
  };
}

/** The last call of `defineAgency`, or the file's start. */
function agencyStart(text: string): number {
  return Math.max(text.lastIndexOf('defineAgency('), 0);
}

function quoted(text: string, name: string, from: number): number {
  const found = ["'", '"', '`'].map((quote) => text.indexOf(`${quote}${name}${quote}`, from)).filter((at) => at !== -1);
  return found.length === 0 ? -1 : Math.min(...found);
}
