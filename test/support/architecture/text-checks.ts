import type { Check } from './import-checks.ts';
import {
  aimedLines,
  clientModules,
  environmentReaders,
  maxLines,
  outgoingUsers,
  packageEntryFiles,
  packagesWithRequests,
  serverRoot,
  socketModules,
  socketUsers,
} from './rules.ts';
import { getCode, isTest, listImports, matchesAny, type Sources } from './sources.ts';

const inPackages = (path: string) => path.startsWith('packages/');

function findAll(code: string, expression: RegExp): { readonly line: number; readonly match: RegExpExecArray }[] {
  return [...code.matchAll(expression)].map((match) => ({
    line: code.slice(0, match.index).split('\n').length,
    match,
  }));
}

export const checkEnvironment: Check = (sources) => {
  const complaints: string[] = [];
  for (const [path, text] of sources) {
    if (!inPackages(path) || isTest(path) || matchesAny(path, environmentReaders)) continue;
    for (const { line } of findAll(
      getCode(path, text),
      /(?<![\w$])process\s*(?:\?\.|\.|\[)\s*(?:env(?![\w$])|['"])/g,
    )) {
      complaints.push(`${path}:${line} reads process.env: settings come from config/`);
    }
    for (const { specifier, clause, line } of listImports(path, text)) {
      if (/^(node:)?process$/.test(specifier) && /(?<![\w$])env(?![\w$])/.test(clause)) {
        complaints.push(`${path}:${line} imports env of ${specifier}: settings come from config/`);
      }
    }
  }
  return complaints;
};

const lineCount = (text: string) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
const isWritten = (path: string) => inPackages(path) && !path.endsWith('.gen.ts');

export const checkLength: Check = (sources) =>
  [...sources]
    .filter(([path, text]) => isWritten(path) && lineCount(text) > maxLines)
    .map(([path, text]) => `${path} has ${lineCount(text)} lines: past ${maxLines} it wants splitting`);

/** Not a violation: files that are longer than what is aimed at. */
export function listLongFiles(sources: Sources): string[] {
  return [...sources]
    .filter(([path, text]) => isWritten(path) && lineCount(text) > aimedLines)
    .map(([path, text]) => `${path}: ${lineCount(text)} lines`);
}

export const checkDefaultExports: Check = (sources) => {
  const complaints: string[] = [];
  for (const [path, text] of sources) {
    if (path.endsWith('.config.ts')) continue;
    const code = getCode(path, text);
    const found = findAll(code, /(?<![\w$.])export\s+default(?![\w$])|(?<![\w$.])export\s*\{[^}]*\sas\s+default\b/g);
    for (const { line } of found) complaints.push(`${path}:${line} has a default export: exports are named`);
  }
  return complaints;
};

export const checkBarrels: Check = (sources) => {
  const complaints: string[] = [];
  for (const [path, text] of sources) {
    if (packageEntryFiles.includes(path)) continue;
    if (/(^|\/)index\.tsx?$/.test(path)) complaints.push(`${path}: an index file is a package's entry alone`);
    for (const { line } of findAll(getCode(path, text), /(?<![\w$.])export\s+(?:type\s+)?\*/g)) {
      complaints.push(`${path}:${line} exports all of another file: only a package's entry does`);
    }
    const code = getCode(path, text).replace(/(?<![\w$.])export\s+(?:type\s*)?\{[^}]*\}\s*from\s*(['"])\s*\1;?/g, '');
    if (code.trim() === '' && getCode(path, text).trim() !== '')
      complaints.push(`${path}: a barrel, it only exports others`);
  }
  return complaints;
};

const emptyName = /(?:^|[a-z0-9])(?:Manager|Helper|Util|Impl)s?$|^(?:manager|helper|util|impl)s?$/;
const emptyFileName = /(?:^|[-.])(?:manager|helper|util|impl)s?(?=[-.]|$)/i;
const declaredExport =
  /(?<![\w$.])export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|const|let|var|class|interface|type|enum|namespace)\s+([\w$]+)/g;
/** `isOneOf` is a question, and `anyOf` is a word of JSON Schema. */
const genitiveFunction =
  /(?<![\w$.])(?:function\s*\*?|const|let)\s+((?!is[A-Z]|(?:any|one|all)Of\b)[a-z][\w$]*Of)(?![\w$])/g;
const listedExport = /(?<![\w$.])export\s+(?:type\s*)?\{([^}]*)\}/g;

export const checkNames: Check = (sources) => {
  const complaints: string[] = [];
  for (const [path, text] of sources) {
    const file = path.slice(path.lastIndexOf('/') + 1);
    if (emptyFileName.test(file) || path.split('/').some((folder) => emptyFileName.test(folder) && folder !== file)) {
      complaints.push(`${path}: a name that says nothing (manager, helper, util, impl)`);
    }
    const code = getCode(path, text);
    const names = findAll(code, declaredExport).map(({ line, match }) => ({ line, name: match[1] ?? '' }));
    for (const { line, match } of findAll(code, listedExport)) {
      for (const item of (match[1] ?? '').split(',')) {
        names.push({ line, name: item.trim().split(/\s+/).at(-1) ?? '' });
      }
    }
    for (const { line, match } of findAll(code, genitiveFunction)) {
      complaints.push(`${path}:${line} ${match[1]}: a function is a verb (getName, toText, listFiles)`);
    }
    for (const { line, name } of names) {
      if (emptyName.test(name)) complaints.push(`${path}:${line} exports ${name}: a name that says nothing`);
    }
  }
  return complaints;
};

/** Called, or handed on under another name. */
const fetchUse = /(?<![\w$.#])(?<!function\s)(?<!function\s\*)fetch\s*(?:\(|(?=[;,)\]}]|\?\?|\|\|))/g;
/** The other clients that Node has without an import, and the ways to them that hide their names. */
const globalClient =
  /(?<![\w$.#])(?:(?:WebSocket|EventSource|WebSocketStream)(?![\w$])|(?:globalThis|global)\s*(?:\?\.\s*)?(?:\[|\.?\s*(?:fetch|WebSocket|EventSource)(?![\w$])))/g;
const OUT = 'requests leave by the guarded fetcher and the adapters of models, S3 and MCP';

export const checkOutgoing: Check = (sources) => {
  const complaints: string[] = [];
  for (const [path, text] of sources) {
    if (!packagesWithRequests.some((name) => path.startsWith(`packages/${name}/src/`))) continue;
    const inside = path.startsWith(serverRoot) ? path.slice(serverRoot.length) : path;
    const mayCall = matchesAny(inside, outgoingUsers);
    for (const { specifier, kind, line } of listImports(path, text)) {
      if (kind === 'type') continue;
      const module = specifier.replace(/^(https?|http2|net|tls|dns|dns\/promises|dgram)$/, 'node:$1');
      const isForbidden =
        (matchesAny(module, clientModules) && !mayCall) ||
        (socketModules.includes(module) && !matchesAny(inside, socketUsers));
      if (isForbidden) complaints.push(`${path}:${line} imports ${specifier}: ${OUT}`);
    }
    if (mayCall) continue;
    const code = getCode(path, text);
    for (const { line } of findAll(code, fetchUse)) complaints.push(`${path}:${line} uses fetch: ${OUT}`);
    for (const { line } of findAll(code, globalClient)) {
      complaints.push(`${path}:${line} reaches for a client of Node's own: ${OUT}`);
    }
  }
  return complaints;
};
