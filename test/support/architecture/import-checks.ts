import {
  adapters,
  adapterUsers,
  closedParts,
  databaseModules,
  packageRules,
  serverImports,
  serverMayImport,
  serverRoot,
  testingUsers,
} from './rules.ts';
import { type Import, isTest, listImports, matchesAny, matchesPattern, type Sources } from './sources.ts';

/** A check reads the sources and returns one sentence per violation. */
export type Check = (sources: Sources) => string[];

function checkImports(sources: Sources, complaintOn: (path: string, found: Import) => string | undefined): string[] {
  const complaints: string[] = [];
  for (const [path, text] of sources) {
    for (const found of listImports(path, text)) {
      const complaint = complaintOn(path, found);
      if (complaint !== undefined) complaints.push(`${path}:${found.line} imports ${found.specifier}: ${complaint}`);
    }
  }
  return complaints;
}

const inPackages = (path: string) => path.startsWith('packages/');
const inServer = (path: string | undefined): path is string => path?.startsWith(serverRoot) ?? false;
const insideServer = (path: string) => path.slice(serverRoot.length);
const toPart = (path: string) => insideServer(path).split('/')[0] as string;
const inTestKit = (path: string) => path.startsWith('packages/test-kit/');
const isForTests = (path: string) => inTestKit(path) || path.startsWith(`${serverRoot}testing/`);
const getPackage = (path: string) => path.split('/')[1] as string;

export const checkServerFolders: Check = (sources) => {
  const strangers = [...sources.keys()]
    .filter((path) => inServer(path) && !isTest(path) && serverImports[toPart(path)] === undefined)
    .map((path) => `${path}: the table of folders has no ${toPart(path)}`);
  const crossings = checkImports(sources, (path, { specifier, target }) => {
    if (!inServer(path) || isTest(path) || target === undefined) return undefined;
    const part = toPart(path);
    if (inServer(target)) {
      const allowed = serverImports[part];
      if (allowed === undefined || toPart(target) === part || matchesAny(insideServer(target), allowed))
        return undefined;
      return `${part} may not import ${toPart(target)}`;
    }
    const users = serverMayImport[specifier] ?? serverMayImport[`@runwire/${getPackage(target)}`];
    return users === undefined || users.includes(part) ? undefined : `${part} may not import ${specifier}`;
  });
  return [...strangers, ...crossings];
};

/** Each folder, file or pattern in the rules must match a file. A rule for something that does not exist is out of date. */
export const checkUnusedRules: Check = (sources) => {
  const inside = [...sources.keys()].filter(inServer).map(insideServer);
  // Without the server's sources, as in a test of another rule, there is nothing to compare.
  if (inside.length === 0) return [];
  const parts = [...Object.keys(serverImports), ...Object.values(serverImports).flat(), ...adapters, ...adapterUsers];
  const packages = Object.values(serverMayImport).flat();
  return [...new Set([...parts, ...packages])]
    .filter((pattern) => !inside.some((path) => matchesAny(path, [pattern])))
    .map((pattern) => `the rules name ${pattern}, which does not exist`);
};

export const checkAdapters: Check = (sources) =>
  checkImports(sources, (path, { target }) => {
    if (!inServer(target) || inTestKit(path)) return undefined;
    const adapter = adapters.find((pattern) => matchesPattern(insideServer(target), pattern));
    if (adapter === undefined) return undefined;
    // The adapter's own folder is the pattern's folder, or the folder that matches its `*`.
    const depth = adapter.split('/').length - 1;
    const home = `${serverRoot}${insideServer(target).split('/').slice(0, depth).join('/')}/`;
    if (path.startsWith(home) || (inServer(path) && matchesAny(insideServer(path), adapterUsers))) return undefined;
    return 'an adapter is known to compose/, commands/ and its own tests alone';
  });

export const checkTesting: Check = (sources) =>
  checkImports(sources, (path, { target }) => {
    if (target === undefined || !isForTests(target) || matchesAny(path, testingUsers)) return undefined;
    return 'the test kit and testing/ are for tests, proofs and benchmarks';
  });

export const checkPackages: Check = (sources) =>
  checkImports(sources, (path, { specifier, kind, target }) => {
    if (!inPackages(path) || isTest(path)) return undefined;
    if (specifier.startsWith('.')) return relativeComplaint(path, target);
    const prefix = Object.keys(packageRules)
      .filter((key) => path.startsWith(key))
      .sort((a, b) => b.length - a.length)[0];
    const rule = prefix === undefined ? undefined : packageRules[prefix];
    if (rule === undefined) return `no rule says what packages/${getPackage(path)} may import`;
    if (!specifier.startsWith('@runwire/')) {
      const allowed = typeof rule.others === 'boolean' ? rule.others : matchesAny(specifier, rule.others);
      if (allowed) return undefined;
      if (rule.types === undefined || !matchesAny(specifier, rule.types)) return `${prefix} may not depend on it`;
      return kind === 'type' ? undefined : 'it is imported for its types alone: to load it costs every start';
    }
    // An entry allows no other entry of its package.
    if (rule.own.some((own) => (own.includes('*') ? matchesPattern(specifier, own) : own === specifier)))
      return undefined;
    if (!rule.lazily?.includes(specifier)) return `packages/${getPackage(path)} may not import it`;
    return kind === 'static' ? 'it is loaded when first needed, by import()' : undefined;
  });

function relativeComplaint(path: string, target: string | undefined): string | undefined {
  // A planted fault may change the inside of any part.
  if (path.startsWith('packages/test-kit/src/faults/')) return undefined;
  if (target === undefined || !target.startsWith(`packages/${getPackage(path)}/`)) {
    return 'another package is imported by its name';
  }
  const closed = closedParts.find(({ from, except }) => path.startsWith(from) && !path.startsWith(except));
  if (closed !== undefined && target.startsWith(closed.except)) return `${closed.from} may not import ${closed.except}`;
  return undefined;
}

export const checkDatabaseModules: Check = (sources) =>
  checkImports(sources, (path, { specifier }) => {
    const users = databaseModules[specifier.startsWith('kysely/') ? 'kysely' : specifier];
    if (users === undefined || !inPackages(path) || inTestKit(path)) return undefined;
    if (inServer(path) && matchesAny(insideServer(path), users)) return undefined;
    return 'queries are built in store/';
  });

export const checkExtensions: Check = (sources) =>
  checkImports(sources, (_, { specifier }) => {
    if (!specifier.startsWith('.') || /\.(tsx?|json|css)$/.test(specifier)) return undefined;
    return 'a relative import ends in .ts, .tsx, .json or .css';
  });
